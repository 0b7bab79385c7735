import { describe, expect, it } from 'vitest'
import { decode, decoders, formats } from '../../../src/ingest/decoders/index.ts'
import { parseJson } from '../../../src/kernel/json.ts'
import {
  bytesOf,
  cslLive,
  decodeJson,
  EPC,
  examples,
  genericBatch,
  glS10Scan,
  impinjEvent,
  MAC,
  minewLong,
} from './examples.ts'

const alive = { reads: [], skipped: 0, sentAt: null, seq: null, warnings: [] }

describe('the choice of a format', () => {
  it('offers every decoder, and auto first', () => {
    expect(formats).toEqual(['auto', ...decoders.map(({ name }) => name)])
  })

  it.each(examples)('recognizes %s as %s', (_case, format, bytes) => {
    const own = decode(format, bytes, null)
    expect(own).not.toBeNull()
    expect(decode('auto', bytes, null)).toEqual(own)
    const rejected = decoders.filter(({ name }) => name !== format && decode(name, bytes, null) !== null)
    expect(rejected.map(({ name }) => name)).toEqual([])
  })

  // A stream is not JSON as a whole; the table above shows that only its own decoder accepts it.
  const whole = examples.filter(([, format, bytes]) => parseJson(bytes, 64).ok || format === 'minew')

  it.each(whole)('has exactly one decoder for %s', (_case, format, bytes) => {
    const parsed = parseJson(bytes, 64)
    const message = { bytes, json: parsed.ok ? parsed.value : undefined, topic: null }
    expect(decoders.filter((decoder) => decoder.recognizes(message)).map(({ name }) => name)).toEqual([format])
  })

  it.each([
    ['plain words', 'connection lost'],
    ['a number', '42'],
    ['a text', '"E280"'],
    ['nothing but null', 'null'],
    ['an object of no known shape', '{"hello":"world"}'],
    ['a list of no known shape', '[1,2,3]'],
    ['JSON that ends early', '{"reads":[{"tag":"E280'],
    ['lines of a format that has no lines', `${JSON.stringify(glS10Scan)}\n${JSON.stringify(glS10Scan)}`],
    ['lines of records that belong in a list', minewLong.map((record) => JSON.stringify(record)).join('\n')],
    ['a byte order mark', `\ufeff${JSON.stringify(genericBatch)}`],
  ])('answers null for %s', (_case, payload) => {
    expect(decode('auto', bytesOf(payload), null)).toBeNull()
  })

  it('answers null for bytes that are not text', () => {
    expect(decode('auto', Uint8Array.of(0x7b, 0xff, 0x7d), null)).toBeNull()
    expect(decode('generic', Uint8Array.of(0x7b, 0xff, 0x7d), null)).toBeNull()
  })

  it('answers null when the payload is not in the configured format', () => {
    expect(decode('impinj', bytesOf(cslLive), null)).toBeNull()
    expect(decode('csl', bytesOf(impinjEvent), null)).toBeNull()
  })

  it.each([[''], [' \r\n\t'], ['[]'], ['{}']])('takes the empty payload %j as a heartbeat in every format', (text) => {
    for (const format of formats) expect(decode(format, bytesOf(text), null)).toEqual(alive)
  })

  it('reads nesting up to 64 levels and no deeper', () => {
    const nested = (levels: number) => `{"tag":"${EPC}","extra":${'['.repeat(levels)}${']'.repeat(levels)}}`
    expect(decodeJson('auto', nested(63)).reads).toHaveLength(1)
    expect(decode('auto', bytesOf(nested(64)), null)).toBeNull()
    expect(decodeJson('auto', `${nested(63)}\n${nested(64)}`)).toMatchObject({ reads: [{}], skipped: 1 })
  })
})

describe('a stream', () => {
  const line = (tag: string) => JSON.stringify({ tag })

  it('loses only an invalid line', () => {
    const text = [line(EPC), '{"tag":"E280', line(MAC), 'noise', `${line('A-1')} trailing`, '', line('A-2')].join('\n')
    const decoded = decodeJson('generic', text)
    expect(decoded.reads.map(({ value }) => value)).toEqual([EPC, MAC, 'A-1', 'A-2'])
    expect(decoded.skipped).toBe(3)
  })

  it('must begin with a whole object', () => {
    expect(decode('generic', bytesOf(`{"tag":\n${line(EPC)}`), null)).toBeNull()
    expect(decode('generic', bytesOf(`1\n${line(EPC)}`), null)).toBeNull()
  })

  it('counts objects after the 5,000th as ignored', () => {
    expect(decodeJson('auto', `${line(EPC)}\n`.repeat(5002))).toMatchObject({ reads: { length: 5000 }, skipped: 2 })
  })
})

describe('a message that exceeds the limits', () => {
  it('is recognized by its first hundred objects', () => {
    const padded = (length: number) => JSON.stringify([...new Array(length).fill(0), { tag: EPC }])
    expect(decodeJson('auto', padded(99))).toMatchObject({ reads: [{ value: EPC }], skipped: 99 })
    expect(decode('auto', bytesOf(padded(100)), null)).toBeNull()
  })

  it('gives its first 5,000 reads and counts the others', () => {
    const reads = Array.from({ length: 5003 }, (_, index) => ({ tag: `A-${index}` }))
    const decoded = decodeJson('auto', { reads })
    expect(decoded.reads).toHaveLength(5000)
    expect(decoded.reads.at(-1)?.value).toBe('A-4999')
    expect(decoded.skipped).toBe(3)
  })

  it('keeps at most eight other identities of a tag', () => {
    const ad = Array.from({ length: 20 }, (_, index) => {
      return `1516AAFE00E800112233445566778899A1A2A3A4A5${index.toString(16).padStart(2, '0')}`
    }).join('')
    expect(decodeJson('auto', { dev_list: [{ mac: MAC, ad }] }).reads[0]?.alt).toHaveLength(8)
  })
})
