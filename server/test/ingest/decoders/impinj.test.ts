import { describe, expect, it } from 'vitest'
import { OVERFLOW_WARNING } from '../../../src/ingest/decoders/impinj.ts'
import { decodeJson, EPC, impinjEvent, impinjStatus, TID } from './examples.ts'

const eventWith = (tag: object) => ({
  ...impinjEvent,
  tagInventoryEvent: { ...impinjEvent.tagInventoryEvent, ...tag },
})
const firstRead = (payload: object) => decodeJson('impinj', JSON.stringify(payload)).reads[0]
const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64')

describe('Impinj R700', () => {
  it('reads an event: signal strength in hundredths, time truncated to microseconds', () => {
    expect(decodeJson('impinj', impinjEvent).reads).toEqual([
      {
        tagType: 'rfid',
        value: EPC,
        antenna: 3,
        rssiDbm: -56.5,
        count: 1,
        observedAt: '2026-09-01T08:00:00.118402Z',
        alt: [],
      },
    ])
  })

  it.each([
    ['base64', '4oARcAAAAgobLD1O', EPC],
    ['base64 with padding', '4oARcAAAAg==', 'E2801170000002'],
    ['base64 without its padding', '4oARcAAAAg', 'E2801170000002'],
    ['the alphabet of base64', '+/+/', 'FBFFBF'],
    ['the alphabet of base64url', '-_-_', 'FBFFBF'],
  ])('decodes an EPC in %s', (_case, epc, value) => {
    expect(firstRead(eventWith({ epcHex: undefined, epc }))?.value).toBe(value)
  })

  it('falls back to base64 when the hex form is empty', () => {
    expect(firstRead(eventWith({ epcHex: '' }))?.value).toBe(EPC)
  })

  it.each([
    ['hex', { tidHex: TID }],
    ['base64', { tid: base64(TID) }],
  ])('keeps a TID in %s as the other identity', (_case, tid) => {
    expect(firstRead(eventWith(tid))).toMatchObject({ value: EPC, alt: [{ type: 'rfid', value: TID }] })
  })

  it('names a tag by its TID when the EPC is not reported', () => {
    expect(firstRead(eventWith({ epcHex: undefined, epc: undefined, tidHex: TID }))).toMatchObject({
      value: TID,
      alt: [],
    })
  })

  it.each([
    ['text that is not base64', { epc: '4oAR!cAA' }],
    ['base64 that ends in half a byte', { epc: '4oARc' }],
    ['an EPC longer than 496 bits', { epc: base64('00'.repeat(63)) }],
    ['no identity at all', { epc: undefined }],
  ])('skips and counts an event with %s', (_case, tag) => {
    const decoded = decodeJson('impinj', JSON.stringify(eventWith({ epcHex: undefined, ...tag })))
    expect(decoded).toMatchObject({ reads: [], skipped: 1 })
  })

  it('accepts an EPC of exactly 496 bits and keeps its leading zeros', () => {
    const epc = `00${'A5'.repeat(61)}`
    expect(firstRead(eventWith({ epcHex: undefined, epc: base64(epc) }))?.value).toBe(epc)
  })

  it('uses the time of the event when the read has none, and never as the sending time', () => {
    const decoded = decodeJson('impinj', JSON.stringify(eventWith({ lastSeenTime: undefined })))
    expect(decoded.reads[0]?.observedAt).toBe('2026-09-01T08:00:00.120000Z')
    expect(decoded.sentAt).toBeNull()
  })

  it.each([
    ['zero', 0],
    ['missing', undefined],
  ])('reports no strength when it is %s', (_case, peakRssiCdbm) => {
    expect(firstRead(eventWith({ peakRssiCdbm }))?.rssiDbm).toBeNull()
  })

  it('reads an event of old firmware, which has no event type', () => {
    const { tagInventoryEvent, timestamp } = impinjEvent
    expect(decodeJson('auto', { tagInventoryEvent, timestamp }).reads).toMatchObject([{ value: EPC }])
  })

  it('reads a webhook and ignores status events', () => {
    expect(decodeJson('auto', [impinjStatus, impinjEvent, impinjStatus])).toMatchObject({
      reads: [{ value: EPC }],
      skipped: 0,
    })
  })

  it('takes an empty webhook as a heartbeat', () => {
    expect(decodeJson('impinj', [])).toMatchObject({ reads: [], skipped: 0 })
  })

  it('reads a stream of lines, blank ones included', () => {
    const line = JSON.stringify(impinjEvent)
    expect(decodeJson('impinj', `${line}\r\n\r\n${line}\n`)).toMatchObject({ reads: [{}, {}], skipped: 0 })
  })

  it('warns once when the reader purged events', () => {
    const overflow = { ...impinjStatus, eventType: 'overflow', overflowEvent: {} }
    expect(decodeJson('auto', [overflow, impinjEvent, overflow])).toMatchObject({
      reads: [{ value: EPC }],
      skipped: 0,
      warnings: [OVERFLOW_WARNING],
    })
  })
})
