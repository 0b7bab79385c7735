import { describe, expect, it } from 'vitest'
import { cslDecoder, factoryLabels } from '../../../src/ingest/decoders/csl.ts'
import { cslFactory, cslLive, decodeJson, OTHER_EPC } from './examples.ts'

const factoryWith = (tag: object, message: object = {}) => ({
  ...cslFactory,
  ...message,
  tags: [{ ...cslFactory.tags[0], ...tag }],
})
const liveWith = (tag: object) => ({ ...cslLive, tags: [{ ...cslLive.tags[0], ...tag }] })
const firstRead = (payload: object) => decodeJson('csl', JSON.stringify(payload)).reads[0]

describe('CSL CS463', () => {
  it('reads the factory form, whose numbers are text and whose time is local', () => {
    expect(decodeJson('csl', cslFactory)).toEqual({
      reads: [
        {
          tagType: 'rfid',
          value: OTHER_EPC,
          antenna: 2,
          rssiDbm: -58.5,
          count: 1,
          observedAt: '2026-09-01T00:00:00.120000Z',
          alt: [],
        },
      ],
      skipped: 0,
      sentAt: null,
      seq: null,
      warnings: [],
    })
  })

  it('reads the live form, whose time is in microseconds', () => {
    const decoded = decodeJson('csl', cslLive)
    expect(decoded).toMatchObject({ seq: 41, skipped: 0, sentAt: null })
    expect(decoded.reads).toMatchObject([
      { value: OTHER_EPC, antenna: 2, rssiDbm: -58.5, observedAt: '2026-09-21T14:13:20.123456Z' },
    ])
  })

  it('does not shift microseconds by the zone, because they are UTC already', () => {
    expect(firstRead(liveWith({ timeZone: '-6:00' }))?.observedAt).toBe('2026-09-21T14:13:20.123456Z')
  })

  it.each([
    ['+8:00', '2026-09-01T00:00:00.120000Z'],
    ['-6:00', '2026-09-01T14:00:00.120000Z'],
    ['-3:30', '2026-09-01T11:30:00.120000Z'],
    ['+0:00', '2026-09-01T08:00:00.120000Z'],
    ['+05:45', '2026-09-01T02:15:00.120000Z'],
  ])('takes local time in the zone %s', (timeZone, instant) => {
    expect(firstRead(factoryWith({}, { timeZone }))?.observedAt).toBe(instant)
  })

  it.each([
    ['local time without a zone', factoryWith({}, { timeZone: undefined })],
    ['local time in an invalid zone', factoryWith({}, { timeZone: 'Mars' })],
    ['a day that is none', factoryWith({ timeOfRead: '2026/02/30 08:00:00.120' })],
    ['a clock that counts from 1970', liveWith({ timeStampOfRead: 86_400_000_000 })],
    ['milliseconds instead of microseconds', liveWith({ timeStampOfRead: 1_790_000_000_123 })],
  ])('sets no time for %s', (_case, payload) => {
    expect(firstRead(payload)).toMatchObject({ value: OTHER_EPC, observedAt: null })
  })

  it.each([
    ['empty text', ''],
    ['zero', 0],
    ['zero as text', '0.0'],
    ['a word', 'weak'],
    ['nothing', null],
  ])('reports no strength for %s', (_case, rssi) => {
    expect(firstRead(liveWith({ rssi }))?.rssiDbm).toBeNull()
  })

  it('takes the strength as a number too', () => {
    expect(firstRead(liveWith({ rssi: -61.25 }))?.rssiDbm).toBe(-61.25)
  })

  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['zero', 0],
  ])('reads on antenna 1 when the port is %s', (_case, antennaPort) => {
    expect(firstRead(liveWith({ antennaPort }))?.antenna).toBe(1)
  })

  it('skips and counts each record that has no EPC or no such port, and keeps the others', () => {
    const good = { ...cslLive.tags[0] }
    const bad = [{ ...good, epc: 'E28' }, { ...good, epc: 'XYZ1' }, { ...good, antennaPort: -1 }, {}, 7, null]
    const decoded = decodeJson('csl', JSON.stringify({ ...cslLive, tags: [...bad, good] }))
    expect(decoded.reads).toHaveLength(1)
    expect(decoded.skipped).toBe(6)
  })

  it('takes a message without tags as a heartbeat', () => {
    expect(decodeJson('auto', { ...cslLive, tags: [] })).toMatchObject({ reads: [], skipped: 0, seq: 41 })
  })

  it('reads the labels that the operator configured', () => {
    const labels = { ...factoryLabels, tags: 'list', epc: 'tagId', epochMicros: 'at' }
    const json = { list: [{ tagId: OTHER_EPC, at: 1790000000123456, antennaPort: 4 }] }
    const message = { bytes: new Uint8Array(), json, topic: null }
    const decoder = cslDecoder(labels)
    expect(decoder.recognizes(message)).toBe(true)
    expect(decoder.decode(message).reads).toMatchObject([
      { value: OTHER_EPC, antenna: 4, observedAt: '2026-09-21T14:13:20.123456Z' },
    ])
  })
})
