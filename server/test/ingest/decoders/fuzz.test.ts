import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decode, formats, type Decoded } from '../../../src/ingest/decoders/index.ts'
import { codePointLength, textProblem } from '../../../src/kernel/json.ts'
import { bytesOf, examples } from './examples.ts'
import { propertyRuns } from '../../support/rounds.ts'

// Ranges are written out once more here, so that the check shares nothing with the code under test.

const RUNS = { numRuns: propertyRuns(500) }
const INSTANT = /^(?:20\d\d|2100)-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/
const BLE = [/^[0-9A-F]{12}$/, /^[0-9A-F]{32}:\d{1,5}:\d{1,5}$/, /^[0-9A-F]{20}:[0-9A-F]{12}$/]

function isNormal({ type, value }: { type: string; value: string }): boolean {
  if (type === 'rfid') return /^[0-9A-F]{2,124}$/.test(value) && value.length % 2 === 0
  if (type === 'ble') return BLE.some((form) => form.test(value))
  return type === 'barcode' && value !== '' && codePointLength(value) <= 255 && textProblem(value) === null
}

function isInstant(text: string | null): boolean {
  return text === null || (INSTANT.test(text) && !Number.isNaN(Date.parse(text)))
}

function expectSound(decoded: Decoded | null): void {
  if (decoded === null) return
  expect(decoded.reads.length).toBeLessThanOrEqual(5000)
  expect(Number.isSafeInteger(decoded.skipped) && decoded.skipped >= 0).toBe(true)
  expect(isInstant(decoded.sentAt)).toBe(true)
  expect(decoded.seq === null || (Number.isSafeInteger(decoded.seq) && decoded.seq >= 0)).toBe(true)
  for (const read of decoded.reads) {
    expect([{ type: read.tagType, value: read.value }, ...read.alt].filter((tag) => !isNormal(tag))).toEqual([])
    expect(read.alt.some(({ type, value }) => type === read.tagType && value === read.value)).toBe(false)
    expect(Number.isInteger(read.antenna) && read.antenna >= 1 && read.antenna <= 65_535).toBe(true)
    expect(Number.isInteger(read.count) && read.count >= 1).toBe(true)
    expect(read.rssiDbm === null || (read.rssiDbm !== 0 && Math.abs(read.rssiDbm) <= 200)).toBe(true)
    expect(isInstant(read.observedAt)).toBe(true)
  }
}

/** Runs every format on one payload: no exception, normalized output, and the same result twice from unchanged bytes. */
function expectSafe(bytes: Uint8Array, topic: string | null): void {
  const before = Uint8Array.from(bytes)
  for (const format of formats) {
    const decoded = decode(format, bytes, topic)
    expectSound(decoded)
    expect(decode(format, bytes, topic)).toEqual(decoded)
  }
  expect(bytes).toEqual(before)
}

const topic = fc.option(fc.oneof(fc.string(), fc.constant('home/hall/LWT')), { nil: null })
const example = fc.constantFrom(...examples.map(([, , bytes]) => Uint8Array.from(bytes)))

const member = fc.constantFrom(
  ...['reads', 'tag', 'tag_type', 'antenna', 'rssi', 'count', 'observed_at', 'sent_at', 'seq', 'tags', 'epc', 'type'],
  ...['timeOfRead', 'timeStampOfRead', 'timeZone', 'antennaPort', 'tagInventoryEvent', 'epcHex', 'tid', 'peakRssiCdbm'],
  ...['lastSeenTime', 'data', 'idHex', 'TID', 'timestamp', 'tag_reads', 'isHeartBeat', 'tagData', 'EPCid', 'value'],
  ...['barcodeData', 'decodedBarcode', 'dev_list', 'mac', 'ad', 'ts', 'msg_id', 'device_info', 'raw', 'adv_data', 'id'],
  ...['gateway', 'ibeaconUuid', 'ibeaconMajor', 'ibeaconMinor', 'uuid', 'major', 'minor', 'presence', '__proto__'],
)
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom('rfid', 'ble', 'barcode', 'Gateway', 'absent', '+8:00', '2026/09/01 08:00:00', '2026-9-1&8:0:5+0'),
  fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'.split('')), maxLength: 130 }),
  fc.uint8Array({ maxLength: 70 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
)
const number = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(0, -0, 3003, 3004, 3070, 1e308, 253402300800000, 1790000000123456, -62198755200000),
)
const { vendorLike } = fc.letrec((tie) => ({
  vendorLike: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    text,
    number,
    fc.constantFrom(null, true),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('vendorLike'), { maxLength: 5 }),
  object: fc.dictionary(member, tie('vendorLike'), { maxKeys: 8 }),
}))

describe('every decoder', () => {
  it('survives random bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), topic, expectSafe), RUNS)
  })

  it('survives random JSON', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), topic, (json, on) => expectSafe(bytesOf(json), on)),
      RUNS,
    )
  })

  it('survives JSON made of the members that vendors use', () => {
    fc.assert(
      fc.property(
        fc.array(vendorLike, { minLength: 1, maxLength: 3 }),
        fc.constantFrom('', '\n'),
        topic,
        (values, by, on) => expectSafe(bytesOf(values.map((value) => JSON.stringify(value)).join(by)), on),
      ),
      RUNS,
    )
  })

  it('survives examples in which bytes were changed, cut out and put in', () => {
    const edit = fc.tuple(fc.nat(), fc.nat({ max: 6 }), fc.uint8Array({ maxLength: 6 }))
    fc.assert(
      fc.property(example, fc.array(edit, { minLength: 1, maxLength: 4 }), topic, (bytes, edits, on) => {
        let payload = Array.from(bytes)
        for (const [at, cut, put] of edits) payload = payload.toSpliced(at % (payload.length + 1), cut, ...put)
        expectSafe(Uint8Array.from(payload), on)
      }),
      RUNS,
    )
  })

  it('survives examples in which one value became any other', () => {
    fc.assert(
      fc.property(example, fc.nat(), vendorLike, topic, (bytes, which, value, on) => {
        const source = new TextDecoder().decode(bytes)
        const values = [...source.matchAll(/(?<=[:[,])(?:"[^"]*"|-?[\d.]+)(?=[,\]}])/g)]
        const hit = values[which % Math.max(values.length, 1)]
        if (hit === undefined) return
        const end = hit.index + hit[0].length
        expectSafe(bytesOf(source.slice(0, hit.index) + JSON.stringify(value) + source.slice(end)), on)
      }),
      RUNS,
    )
  })

  it('survives any frame after a valid binary header', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (body) => {
        const frame = Buffer.concat([Buffer.from('BB0100000000AC233FA0B1C2', 'hex'), body, Buffer.of(0xdd)])
        frame.writeUInt32BE(frame.length, 2)
        expectSafe(Uint8Array.from(frame), null)
      }),
      RUNS,
    )
  })

  it.each([
    ['deep nesting', '['.repeat(1_000_000)],
    ['deep nesting after a valid line', `{"tag":"A"}\n${'{"a":'.repeat(200_000)}`],
    ['openings without an end on lines of their own', '{\n'.repeat(500_000)],
    ['many empty objects', '{}'.repeat(500_000)],
    ['many numbers', `[${'1,'.repeat(500_000)}1]`],
    ['one endless text', JSON.stringify({ tag: 'a'.repeat(1_000_000) })],
    ['one endless advertisement', JSON.stringify({ dev_list: [{ mac: 'x', ad: '0201'.repeat(250_000) }] })],
    ['digits without end', JSON.stringify({ tag: 'A', observed_at: `2026-09-01T08:00:00.${'1'.repeat(1_000_000)}Z` })],
  ])('decodes a mebibyte of %s within the time limit', (_case, payload) => {
    const bytes = bytesOf(payload)
    const start = performance.now()
    for (const format of formats) expectSound(decode(format, bytes, null))
    expect(performance.now() - start).toBeLessThan(10_000)
  })

  it('reads a frame of very many packets of one device without running out of stack', () => {
    const frame = Buffer.alloc(14 + 8 + 65_535 * 3 + 1)
    frame.writeUInt16BE(0xbb01, 0)
    frame.writeUInt32BE(frame.length, 2)
    frame.writeUInt16BE(1, 12)
    frame.writeUInt16BE(65_535, 20)
    frame[frame.length - 1] = 0xdd
    expect(decode('auto', frame, null)).toMatchObject({ reads: [{ value: '000000000000', count: 65_535 }] })
  })
})
