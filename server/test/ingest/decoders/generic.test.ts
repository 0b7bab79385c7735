import { describe, expect, it } from 'vitest'
import { decodeJson, EPC, genericBatch, IBEACON, MAC, UUID } from './examples.ts'

const batchOf = (...reads: unknown[]) => JSON.stringify({ reads })
const firstRead = (read: object) => decodeJson('generic', batchOf(read)).reads[0]

describe('the generic format', () => {
  it('reads a batch with its sending time and number', () => {
    expect(decodeJson('generic', genericBatch)).toEqual({
      reads: [
        {
          tagType: 'rfid',
          value: EPC,
          antenna: 2,
          rssiDbm: -57.5,
          count: 3,
          observedAt: '2026-09-01T08:00:00.120000Z',
          alt: [],
        },
      ],
      skipped: 0,
      sentAt: '2026-09-01T08:00:00.500000Z',
      seq: 1841,
      warnings: [],
    })
  })

  it('needs nothing but the tag', () => {
    expect(firstRead({ tag: EPC })).toEqual({
      tagType: 'rfid',
      value: EPC,
      antenna: 1,
      rssiDbm: null,
      count: 1,
      observedAt: null,
      alt: [],
    })
  })

  it.each([
    ['twelve hex digits', 'c1a2b3c4d5e6', 'ble', MAC],
    ['an address with colons', 'C1:A2:B3:C4:D5:E6', 'ble', MAC],
    ['longer hex in whole bytes', EPC.toLowerCase(), 'rfid', EPC],
    ['fourteen hex digits', '00A2B3C4D5E6F7', 'rfid', '00A2B3C4D5E6F7'],
    ['longer hex with half a byte', `${EPC}0`, 'barcode', `${EPC}0`],
    ['shorter hex', 'c1a2b3c4d5', 'barcode', 'c1a2b3c4d5'],
    ['anything else', 'SHELF-0042', 'barcode', 'SHELF-0042'],
  ])('infers the type of %s', (_case, tag, tagType, value) => {
    expect(firstRead({ tag })).toMatchObject({ tagType, value })
  })

  it.each([
    ['rfid', 'c1a2b3c4d5e6', MAC],
    ['rfid', 'E2 80 11 70', 'E2801170'],
    ['barcode', MAC.toLowerCase(), MAC.toLowerCase()],
    ['ble', 'c1-a2-b3-c4-d5-e6', MAC],
    ['ble', `${UUID.toLowerCase()}:10:322`, IBEACON.value],
    ['ble', '11223344-5566-7788-9900-aabbccddeeff:10:322', IBEACON.value],
    ['ble', '00112233445566778899:a1a2a3a4a5a6', '00112233445566778899:A1A2A3A4A5A6'],
  ])('uses the given type %s for %s', (tag_type, tag, value) => {
    expect(firstRead({ tag, tag_type })).toMatchObject({ tagType: tag_type, value })
  })

  it.each([
    ['no tag', { antenna: 1 }],
    ['a tag that is a number', { tag: 4006381333931 }],
    ['an empty tag', { tag: '' }],
    ['a type that is unknown', { tag: EPC, tag_type: 'nfc' }],
    ['an EPC that is not hex', { tag: 'XYZ', tag_type: 'rfid' }],
    ['an EPC of half a byte more', { tag: `${EPC}0`, tag_type: 'rfid' }],
    ['hex beyond 496 bits', { tag: 'AB'.repeat(63) }],
    ['an address that is too short', { tag: 'C1A2', tag_type: 'ble' }],
    ['a letter that only turns into hex in upper case', { tag: `${EPC}\ufb00`, tag_type: 'rfid' }],
    ['a barcode with a control character', { tag: 'A\u0000' }],
    ['an antenna that is none', { tag: EPC, antenna: 'left' }],
    ['an antenna with a fraction', { tag: EPC, antenna: 1.5 }],
  ])('skips and counts a read with %s', (_case, read) => {
    expect(decodeJson('generic', batchOf(read, { tag: MAC }))).toMatchObject({ reads: [{ value: MAC }], skipped: 1 })
  })

  it.each([
    ['text', '2026-09-01T10:00:00.120+02:00', '2026-09-01T08:00:00.120000Z'],
    ['seconds', 1790000000, '2026-09-21T14:13:20.000000Z'],
    ['seconds with a fraction', 1790000000.25, '2026-09-21T14:13:20.250000Z'],
    ['milliseconds', 1790000000250, '2026-09-21T14:13:20.250000Z'],
    ['microseconds', '1790000000250123', '2026-09-21T14:13:20.250123Z'],
    ['the first microsecond it believes', 946684800000000, '2000-01-01T00:00:00.000000Z'],
    ['the last microsecond it believes', 4133980799999999, '2100-12-31T23:59:59.999999Z'],
    ['a microsecond too early', 946684799999999, null],
    ['a microsecond too late', 4133980800000000, null],
    ['a year that is not believed', '1999-12-31T23:59:59Z', null],
    ['another year that is not believed', '2101-01-01T00:00:00Z', null],
    ['text without a zone', '2026-09-01T08:00:00', null],
    ['nothing', null, null],
    ['a list', [], null],
  ])('takes the time in %s', (_case, observed_at, instant) => {
    expect(firstRead({ tag: EPC, observed_at })?.observedAt).toBe(instant)
  })

  it.each([
    ['4', 4],
    [2.5, 1],
    [0, 1],
    [-3, 1],
    ['many', 1],
    [1e12, 1],
  ])('counts %j as %i', (count, expected) => {
    expect(firstRead({ tag: EPC, count })?.count).toBe(expected)
  })

  it.each([
    [-200, -200],
    [-201, null],
    [30, 30],
    [31, null],
    ['-57.5', -57.5],
    [' -57 ', -57],
    ['-57 dBm', null],
    [0, null],
    ['', null],
    [true, null],
  ])('takes the strength %j as %j', (rssi, expected) => {
    expect(firstRead({ tag: EPC, rssi })?.rssiDbm).toBe(expected)
  })

  it('ignores unknown members', () => {
    expect(decodeJson('generic', { reads: [{ tag: EPC, colour: 'red' }], site: 'north' })).toMatchObject({
      reads: [{ value: EPC }],
      skipped: 0,
    })
  })

  it('reads a bare list, a single read and JSON lines', () => {
    expect(decodeJson('auto', [{ tag: EPC }, { tag: MAC }]).reads).toHaveLength(2)
    expect(decodeJson('auto', { tag: EPC }).reads).toHaveLength(1)
    expect(decodeJson('auto', `{"tag":"${EPC}"}\n{"tag":"${MAC}"}\n`).reads).toHaveLength(2)
  })

  it('reads lines that are batches and reports the last sending time and number', () => {
    const later = { ...genericBatch, sent_at: '2026-09-01T08:01:00Z', seq: 1842 }
    const last = { tag: MAC }
    expect(
      decodeJson('auto', [genericBatch, later, last].map((batch) => JSON.stringify(batch)).join('\n')),
    ).toMatchObject({
      reads: [{}, {}, {}],
      sentAt: '2026-09-01T08:01:00.000000Z',
      seq: 1842,
    })
  })

  it.each([
    ['an empty batch', { reads: [] }],
    ['a number alone', { seq: 5 }],
    ['a sending time alone', { sent_at: '2026-09-01T08:00:00Z' }],
    ['an empty object', {}],
    ['an empty list', []],
  ])('accepts %s as a heartbeat', (_case, payload) => {
    expect(decodeJson('generic', payload)).toMatchObject({ reads: [], skipped: 0 })
  })

  it('counts a message whose reads have another member name as ignored', () => {
    expect(decodeJson('generic', { read: [{ tag: EPC }] })).toMatchObject({ reads: [], skipped: 1 })
  })
})
