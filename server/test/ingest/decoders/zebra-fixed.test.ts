import { describe, expect, it } from 'vitest'
import { decodeJson, EPC, OTHER_EPC, TID, zebraEvent, zebraLegacy } from './examples.ts'

const eventWith = (data: object, message: object = {}) => ({
  ...zebraEvent,
  ...message,
  data: { ...zebraEvent.data, ...data },
})
const firstRead = (payload: object) => decodeJson('zebra-fixed', JSON.stringify(payload)).reads[0]

describe('Zebra fixed readers', () => {
  it('reads an event, whose offset has no colon', () => {
    expect(decodeJson('zebra-fixed', zebraEvent)).toEqual({
      reads: [
        {
          tagType: 'rfid',
          value: EPC,
          antenna: 1,
          rssiDbm: -48,
          count: 4,
          observedAt: '2026-09-01T08:00:00.120000Z',
          alt: [],
        },
      ],
      skipped: 0,
      sentAt: null,
      seq: null,
      warnings: [],
    })
  })

  it.each([
    ['2026-09-01T08:00:00.120+0200', '2026-09-01T06:00:00.120000Z'],
    ['2026-09-01T08:00:00.120-0530', '2026-09-01T13:30:00.120000Z'],
    ['2026-09-01T08:00:00.120+02:00', '2026-09-01T06:00:00.120000Z'],
    ['2026-09-01T08:00:00Z', '2026-09-01T08:00:00.000000Z'],
    ['2026-09-01T08:00:00.120', null],
    ['1970-01-01T00:10:00.000+0000', null],
  ])('reads the time %s as %s', (timestamp, instant) => {
    expect(firstRead(eventWith({}, { timestamp }))?.observedAt).toBe(instant)
  })

  it('keeps the TID as the other identity', () => {
    expect(firstRead(eventWith({ TID }))).toMatchObject({ value: EPC, alt: [{ type: 'rfid', value: TID }] })
  })

  it('does not repeat an identity that equals the first', () => {
    expect(firstRead(eventWith({ TID: EPC }))?.alt).toEqual([])
  })

  it('reads both a list and concatenated objects', () => {
    const second = eventWith({ idHex: OTHER_EPC, antenna: 2 })
    const expected = { reads: [{ value: EPC }, { value: OTHER_EPC, antenna: 2 }], skipped: 0 }
    expect(decodeJson('zebra-fixed', [zebraEvent, second])).toMatchObject(expected)
    expect(decodeJson('auto', JSON.stringify(zebraEvent) + JSON.stringify(second))).toMatchObject(expected)
  })

  it('reads concatenated objects with brackets and escaped quotes in strings', () => {
    const first = eventWith({ hostName: 'dock "}{" \\' })
    expect(decodeJson('auto', JSON.stringify(first) + JSON.stringify(zebraEvent)).reads).toHaveLength(2)
  })

  it.each([
    ['a heartbeat', { type: 'heartbeat', timestamp: '2026-09-01T08:00:00.120+0000', data: { radio: 'ok' } }],
    ['a message without data', { type: 'gpi', pin: 1 }],
    ['a direction report', eventWith({}, { type: 'DIRECTIONALITY' })],
  ])('accepts %s as a heartbeat', (_case, payload) => {
    expect(decodeJson('zebra-fixed', JSON.stringify(payload))).toMatchObject({ reads: [], skipped: 0 })
  })

  it('skips and counts an event whose EPC is not hex', () => {
    expect(decodeJson('zebra-fixed', [eventWith({ idHex: 'G0' }), zebraEvent, 5])).toMatchObject({
      reads: [{}],
      skipped: 2,
    })
  })
})

describe('the older Zebra HTTP form', () => {
  const legacyWith = (record: object) => ({ ...zebraLegacy, tag_reads: [{ ...zebraLegacy.tag_reads[0], ...record }] })

  it('reads quoted numbers and ignores heartbeats', () => {
    expect(decodeJson('zebra-fixed', JSON.stringify(zebraLegacy))).toMatchObject({
      reads: [{ value: EPC, antenna: 2, rssiDbm: -51, count: 6, observedAt: '2026-09-21T14:13:20.123456Z' }],
      skipped: 0,
    })
  })

  it.each([[true], ['true'], ['True'], [1], ['1']])('knows a heartbeat by %j', (isHeartBeat) => {
    expect(decodeJson('auto', JSON.stringify(legacyWith({ isHeartBeat })))).toMatchObject({ reads: [], skipped: 0 })
  })

  it.each([[false], ['false'], [0], [null]])('does not treat %j as a heartbeat', (isHeartBeat) => {
    expect(decodeJson('auto', JSON.stringify(legacyWith({ isHeartBeat }))).reads).toHaveLength(1)
  })

  it.each([
    ['milliseconds', '1790000000123', '2026-09-21T14:13:20.123000Z'],
    ['seconds', 1790000000, '2026-09-21T14:13:20.000000Z'],
    ['text', '2026-09-01T08:00:00.120Z', '2026-09-01T08:00:00.120000Z'],
    ['a word', 'yesterday', null],
  ])('takes the time in %s', (_case, timeStamp, instant) => {
    expect(firstRead(legacyWith({ firstSeenTimestamp: undefined, timeStamp }))?.observedAt).toBe(instant)
  })
})
