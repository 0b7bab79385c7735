import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  formatMillis,
  fromDatabase,
  instantFromMillis,
  isSentinel,
  millisOf,
  parseRfc3339,
  sameMillisecond,
  toDatabase,
} from '../../src/kernel/instant.ts'
import type { Instant } from '../../src/kernel/instant.ts'

// The reference counts microseconds since 0000-01-01T00:00:00Z in BigInt and shares nothing with the code under test.

const MICROS = 1_000_000n
const DAY = 86_400n
const EPOCH_DAYS = 719_528n
const END_SECONDS = 3_652_425n * DAY

const isLeap = (year: bigint) => (year % 4n === 0n && year % 100n !== 0n) || year % 400n === 0n
const monthLengths = (year: bigint) => [31n, isLeap(year) ? 29n : 28n, 31n, 30n, 31n, 30n, 31n, 31n, 30n, 31n, 30n, 31n]

/** Leap years before `year`, of which year 0000 is the first. */
const leapsBefore = (year: bigint) => (year + 3n) / 4n - (year + 99n) / 100n + (year + 399n) / 400n
const daysBeforeYear = (year: bigint) => year * 365n + leapsBefore(year)

function splitSeconds(total: bigint): [bigint, bigint, bigint, bigint, bigint, bigint] {
  const days = total / DAY
  let year = days / 366n
  while (daysBeforeYear(year + 1n) <= days) year++
  let rest = days - daysBeforeYear(year)
  let month = 0n
  for (const length of monthLengths(year)) {
    if (rest < length) break
    rest -= length
    month++
  }
  const clock = total % DAY
  return [year, month + 1n, rest + 1n, clock / 3600n, (clock / 60n) % 60n, clock % 60n]
}

const pad = (value: bigint, width: number) => value.toString().padStart(width, '0')

function localText(seconds: bigint, separator: string): string {
  const [year, month, day, hour, minute, second] = splitSeconds(seconds)
  const date = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`
  return `${date}${separator}${pad(hour, 2)}:${pad(minute, 2)}:${pad(second, 2)}`
}

const canonical = (micros: bigint) => `${localText(micros / MICROS, 'T')}.${pad(micros % MICROS, 6)}Z`

function reference(text: string): { micros: bigint; exact: boolean } | null {
  const shape = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/
  const match = shape.exec(text)
  if (match === null) return null
  const number = (group: number) => BigInt(match[group] ?? '0')
  const [year, month, day] = [number(1), number(2), number(3)]
  const [hour, minute, second] = [number(4), number(5), number(6)]
  const lengths = monthLengths(year)
  const monthLength = lengths[Number(month) - 1]
  if (monthLength === undefined || day < 1n || day > monthLength) return null
  if (hour > 23n || minute > 59n || second > 60n || number(9) > 23n || number(10) > 59n) return null
  const days = lengths
    .slice(0, Number(month) - 1)
    .reduce((sum, length) => sum + length, daysBeforeYear(year) + day - 1n)
  const offset = (number(9) * 60n + number(10)) * (match[8] === '-' ? -60n : 60n)
  const seconds = days * DAY + hour * 3600n + minute * 60n + second - offset
  if (seconds < 0n || seconds >= END_SECONDS) return null
  // Counted this way, a leap second is the first second of the following day.
  if (second === 60n && seconds % DAY !== 0n) return null
  const fraction = match[7] ?? ''
  const exact = /^0*$/.test(fraction.slice(6))
  return { micros: seconds * MICROS + BigInt(fraction.slice(0, 6).padEnd(6, '0')), exact }
}

/** What PostgreSQL prints for a timestamptz in UTC: trailing zeros of the fraction dropped, year 0000 as 1 BC. */
function postgresOutput(micros: bigint): string {
  const text = localText(micros / MICROS, ' ')
  const fraction = `.${pad(micros % MICROS, 6)}`.replace(/\.?0+$/, '')
  return text.startsWith('0000') ? `0001${text.slice(4)}${fraction}+00 BC` : `${text}${fraction}+00`
}

const parsed = (text: string) => {
  const outcome = parseRfc3339(text)
  if (outcome === null) throw new Error(`refused: ${text}`)
  return outcome
}
const instantOf = (text: string) => parsed(text).instant

// Generated seconds lean towards the edges of years, of February and of the whole range.
const edges = [
  '0000-01-01',
  '0000-03-01',
  '0001-01-01',
  '1900-03-01',
  '1970-01-01',
  '2000-03-01',
  '2024-02-29',
  '9999-12-31',
]
const anySecond = fc.oneof(
  fc.bigInt({ min: 0n, max: END_SECONDS - 1n }),
  fc
    .tuple(fc.constantFrom(...edges), fc.bigInt({ min: -2n * DAY, max: 2n * DAY }))
    .map(([date, delta]) => (reference(`${date}T00:00:00Z`)?.micros ?? 0n) / MICROS + delta)
    .filter((seconds) => seconds >= 0n && seconds < END_SECONDS),
)
const anyMicros = fc
  .tuple(anySecond, fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: MICROS - 1n }), fc.constant(MICROS - 1n)))
  .map(([seconds, micros]) => seconds * MICROS + micros)
const anyInstant = anyMicros.map((micros) => ({ micros, instant: instantOf(canonical(micros)) }))
const digits = (maxLength: number) =>
  fc.oneof(
    fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength }),
    fc.nat({ max: maxLength }).map((length) => '9'.repeat(length)),
    fc.nat({ max: maxLength }).map((length) => '0'.repeat(length)),
  )

/** Any notation of an instant, together with its whole seconds and its fraction. */
const anySpelling = fc
  .record({
    seconds: anySecond,
    fraction: digits(15),
    offset: fc.oneof(fc.constant(null), fc.integer({ min: -1439, max: 1439 })),
    negativeZero: fc.boolean(),
    separator: fc.constantFrom('T', 't'),
    zulu: fc.constantFrom('Z', 'z'),
  })
  .filter(({ seconds, offset }) => {
    const local = seconds + BigInt(offset ?? 0) * 60n
    return local >= 0n && local < END_SECONDS
  })
  .map(({ seconds, fraction, offset, negativeZero, separator, zulu }) => {
    const minutes = BigInt(Math.abs(offset ?? 0))
    const sign = (offset ?? 0) < 0 || (offset === 0 && negativeZero) ? '-' : '+'
    const zone = offset === null ? zulu : `${sign}${pad(minutes / 60n, 2)}:${pad(minutes % 60n, 2)}`
    const local = localText(seconds + BigInt(offset ?? 0) * 60n, separator)
    return { text: `${local}${fraction === '' ? '' : `.${fraction}`}${zone}`, seconds, fraction }
  })

describe('reading RFC 3339', () => {
  it.each([
    ['whole seconds', '2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000000Z'],
    ['one fraction digit', '2026-01-02T03:04:05.6Z', '2026-01-02T03:04:05.600000Z'],
    ['six fraction digits', '2026-01-02T03:04:05.678901Z', '2026-01-02T03:04:05.678901Z'],
    ['nine fraction digits, truncated', '2026-01-02T03:04:05.999999999Z', '2026-01-02T03:04:05.999999Z'],
    ['lower case letters', '2026-01-02t03:04:05z', '2026-01-02T03:04:05.000000Z'],
    ['lower case letters with six digits', '2026-01-02t03:04:05.678901z', '2026-01-02T03:04:05.678901Z'],
    ['an offset east of UTC', '2026-01-02T03:04:05+01:00', '2026-01-02T02:04:05.000000Z'],
    ['an offset west of UTC', '2026-01-02T03:04:05-01:30', '2026-01-02T04:34:05.000000Z'],
    ['an unknown local offset', '2026-01-02T03:04:05-00:00', '2026-01-02T03:04:05.000000Z'],
    ['a zero offset', '2026-01-02T03:04:05.5+00:00', '2026-01-02T03:04:05.500000Z'],
    ['the largest offset', '2026-01-02T03:04:05+23:59', '2026-01-01T03:05:05.000000Z'],
    ['the smallest offset', '2026-01-02T03:04:05-23:59', '2026-01-03T03:03:05.000000Z'],
    ['an offset into the year before', '2026-01-01T00:30:00+01:00', '2025-12-31T23:30:00.000000Z'],
    ['an offset into the year after', '2025-12-31T23:30:00-01:00', '2026-01-01T00:30:00.000000Z'],
    ['an offset back to a leap day', '2024-03-01T00:00:00+00:01', '2024-02-29T23:59:00.000000Z'],
    ['an offset past a common February', '2023-02-28T23:59:59-00:01', '2023-03-01T00:00:59.000000Z'],
    ['a leap day', '2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000000Z'],
    ['the leap day of a fourth century', '2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000000Z'],
    ['the leap day of year 0000', '0000-02-29T00:00:00Z', '0000-02-29T00:00:00.000000Z'],
    ['the first instant', '0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000000Z'],
    ['the last instant', '9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
    ['the last instant in another offset', '9999-12-31T00:00:59.999999-23:59', '9999-12-31T23:59:59.999999Z'],
  ])('accepts %s', (_, text, expected) => {
    expect(parseRfc3339(text)?.instant).toBe(expected)
  })

  it.each([
    ['an empty text', ''],
    ['a date alone', '2026-01-02'],
    ['a time without an offset', '2026-01-02T03:04:05'],
    ['a time without an offset but with a fraction', '2026-01-02T03:04:05.678'],
    ['slashes', '2026/01/02T03:04:05Z'],
    ['a space between date and time', '2026-01-02 03:04:05Z'],
    ['an underscore between date and time', '2026-01-02_03:04:05Z'],
    ['single-digit fields', '2026-1-1T03:04:05Z'],
    ['single-digit fields padded to full length', '2026-1-1T03:04:05.678Z'],
    ['no seconds', '2026-01-02T03:04Z'],
    ['hour 24', '2026-01-02T24:00:00Z'],
    ['minute 60', '2026-01-02T03:60:00Z'],
    ['second 60 of another minute [D46]', '2016-12-31T23:58:60Z'],
    ['second 60 of another hour [D46]', '2016-12-31T22:59:60Z'],
    ['second 60 at 23:59 elsewhere [D46]', '2016-12-31T23:59:60+01:00'],
    ['second 60 at the end of time [D46]', '9999-12-31T23:59:60Z'],
    ['second 61', '2016-12-31T23:59:61Z'],
    ['month 00', '2026-00-02T03:04:05Z'],
    ['month 13', '2026-13-02T03:04:05Z'],
    ['day 00', '2026-01-00T03:04:05Z'],
    ['day 32', '2026-01-32T03:04:05Z'],
    ['31 April', '2026-04-31T03:04:05Z'],
    ['29 February of a common year', '2023-02-29T03:04:05Z'],
    ['29 February of a common century', '1900-02-29T03:04:05Z'],
    ['a dot without digits', '2026-01-02T03:04:05.Z'],
    ['a dot without digits before an offset', '2026-01-02T03:04:05.+00:00'],
    ['a comma as the decimal sign', '2026-01-02T03:04:05,678Z'],
    ['an offset without a colon', '2026-01-02T03:04:05+0100'],
    ['an offset of hours alone', '2026-01-02T03:04:05+01'],
    ['an offset with seconds', '2026-01-02T03:04:05+01:00:00'],
    ['offset hour 24', '2026-01-02T03:04:05+24:00'],
    ['offset minute 60', '2026-01-02T03:04:05+01:60'],
    ['a typographic minus in the offset', '2026-01-02T03:04:05\u221201:00'],
    ['both Z and an offset', '2026-01-02T03:04:05Z+01:00'],
    ['a year of five digits', '12026-01-02T03:04:05Z'],
    ['a signed year', '+002026-01-02T03:04:05Z'],
    ['a negative year', '-026-01-02T03:04:05Z'],
    ['leading white space', ' 2026-01-02T03:04:05Z'],
    ['a trailing newline', '2026-01-02T03:04:05Z\n'],
    ['a trailing newline behind canonical text', '2026-01-02T03:04:05.678901Z\n'],
    ['a trailing NUL', '2026-01-02T03:04:05Z\0'],
    ['Arabic-Indic digits', '\u0662\u0660\u0662\u0666-01-02T03:04:05Z'],
    ['full-width digits in the fraction', '2026-01-02T03:04:05.\uff16Z'],
    ['an instant before year 0000', '0000-01-01T00:00:00+00:01'],
    ['an instant behind year 9999', '9999-12-31T23:59:59-00:01'],
  ])('rejects %s', (_, text) => {
    expect(parseRfc3339(text)).toBeNull()
  })

  it.each([
    ['six digits', '2026-01-02T03:04:05.123456Z', true],
    ['zeros behind the microseconds', '2026-01-02T03:04:05.123456000Z', true],
    ['a digit behind the microseconds', '2026-01-02T03:04:05.1234567Z', false],
    ['a ninth digit', '2026-01-02T03:04:05.123456001+02:00', false],
    ['a digit far behind', `2026-01-02T03:04:05.${'0'.repeat(5000)}1Z`, false],
  ])('reports for %s whether the instant is exact', (_, text, exact) => {
    expect(parsed(text).exact).toBe(exact)
  })

  it.each([
    ['2026-01-02T03:04:05.123Z', 3, true],
    ['2026-01-02T03:04:05.1234Z', 3, false],
    ['2026-01-02T03:04:05.1230+01:00', 3, false],
    ['2026-01-02T03:04:05.123456Z', 3, false],
    ['2026-01-02T03:04:05.123456789Z', 9, true],
    ['2026-01-02T03:04:05.1234567890Z', 9, false],
    ['2026-01-02T03:04:05Z', 0, true],
    ['2026-01-02T03:04:05.0Z', 0, false],
  ])('reads %s under a limit of %i fraction digits as accepted: %s', (text, maxFractionDigits, accepted) => {
    expect(parseRfc3339(text, { maxFractionDigits }) !== null).toBe(accepted)
  })

  it('gives every spelling of an instant the one canonical text that independent arithmetic computes', () => {
    fc.assert(
      fc.property(anySpelling, ({ text, seconds, fraction }) => {
        const micros = seconds * MICROS + BigInt(fraction.slice(0, 6).padEnd(6, '0'))
        const exact = /^0*$/.test(fraction.slice(6))
        expect(parseRfc3339(text)).toEqual({ instant: canonical(micros), exact })
      }),
      { numRuns: 1000 },
    )
  })

  it('reads second 60 as the following second with its fraction where it is 23:59:60 in UTC, and nowhere else [D46]', () => {
    const minutes = fc.integer({ min: -1439, max: 1439 })
    const day = fc.bigInt({ min: 1n, max: END_SECONDS / DAY - 2n })
    const midnight = fc.oneof(
      { weight: 1, arbitrary: fc.constant(0n) },
      { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 1439n }) },
    )
    fc.assert(
      fc.property(day, midnight, minutes, digits(9), (days, minute, offset, fraction) => {
        // The minute that ends at `end` in UTC, written on a clock that is `offset` minutes ahead.
        const end = days * DAY + minute * 60n
        const clock = localText(end - 60n + BigInt(offset) * 60n, 'T').slice(0, 17)
        const size = Math.abs(offset)
        const zone = `${offset < 0 ? '-' : '+'}${pad(BigInt(Math.floor(size / 60)), 2)}:${pad(BigInt(size % 60), 2)}`
        const text = `${clock}60${fraction === '' ? '' : `.${fraction}`}${zone}`
        const micros = end * MICROS + BigInt(fraction.slice(0, 6).padEnd(6, '0'))
        const expected = { instant: canonical(micros), exact: /^0*$/.test(fraction.slice(6)) }
        expect(parseRfc3339(text)).toEqual(minute === 0n ? expected : null)
      }),
      { numRuns: 1000 },
    )
  })

  it('truncates digits and never rounds them', () => {
    fc.assert(
      fc.property(anyInstant, digits(30), ({ instant }, tail) => {
        expect(instantOf(instant.replace('Z', `${tail}Z`))).toBe(instant)
      }),
    )
  })

  it('agrees with the reference on every replacement of one character by an ASCII or look-alike one', () => {
    const replacements = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))
    replacements.push('\u0660', '\uff11', '\u2212', '\u00a0', '\u2028', '\ud835', '\u0130', '\u017f', '')
    const disagreements: string[] = []
    for (const text of [
      '2024-02-29T23:59:59Z',
      '2026-01-02t03:04:05.678901z',
      '0000-01-01T00:00:00.000000Z',
      '9999-12-31T23:59:59.9999999-00:00',
      '1970-01-01T00:00:00.5+00:00',
      '2016-12-31T23:59:60Z',
      '2017-01-01T05:29:60.25+05:30',
    ]) {
      for (let at = 0; at < text.length; at++) {
        for (const replacement of replacements) {
          const corrupted = text.slice(0, at) + replacement + text.slice(at + 1)
          const expected = reference(corrupted)
          const actual = parseRfc3339(corrupted)
          const agrees =
            expected === null
              ? actual === null
              : actual?.instant === canonical(expected.micros) && actual.exact === expected.exact
          if (!agrees) disagreements.push(JSON.stringify(corrupted))
        }
      }
    }
    expect(disagreements).toEqual([])
  })

  it('agrees with the reference on any spelling with one character replaced, inserted or deleted', () => {
    const character = fc.oneof(
      fc.constantFrom(...'0123456789-+:.TtZz \n'),
      fc.nat({ max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    )
    const removed = fc.constantFrom(0, 1)
    fc.assert(
      fc.property(
        anySpelling,
        fc.nat(),
        removed,
        fc.option(character, { nil: '' }),
        ({ text }, position, cut, inserted) => {
          const at = position % (text.length + 1)
          const corrupted = text.slice(0, at) + inserted + text.slice(at + cut)
          const expected = reference(corrupted)
          expect(parseRfc3339(corrupted)).toEqual(
            expected && { instant: canonical(expected.micros), exact: expected.exact },
          )
        },
      ),
      { numRuns: 1000 },
    )
  })
})

describe('the order of instants', () => {
  it('is the order of their text', () => {
    const near = fc
      .tuple(anyMicros, fc.bigInt({ min: -3n, max: 3n }))
      .map(([micros, delta]) => [micros, micros + delta] as const)
      .filter(([, other]) => other >= 0n && other < END_SECONDS * MICROS)
    fc.assert(
      fc.property(fc.oneof(near, fc.tuple(anyMicros, anyMicros)), ([a, b]) => {
        const [first, second] = [instantOf(canonical(a)), instantOf(canonical(b))]
        expect([first < second, first === second, first > second]).toEqual([a < b, a === b, a > b])
      }),
    )
  })
})

describe('sentinels', () => {
  it.each([
    ['0001-01-01T00:00:00Z', true],
    ['0001-01-01T00:00:00.000000000Z', true],
    ['0001-01-01t05:30:00+05:30', true],
    ['0000-12-31T23:00:00-01:00', true],
    ['1970-01-01T00:00:00Z', true],
    ['1970-01-01T00:00:00-00:00', true],
    ['1969-12-31T19:00:00.000-05:00', true],
    ['1970-01-01T00:00:00.000001Z', false],
    ['1970-01-01T00:00:00.000000001Z', false],
    ['0001-01-01T00:00:00.0000000000000001Z', false],
    ['1970-01-01T00:00:00+01:00', false],
    ['1969-12-31T23:59:59.999999999Z', false],
    ['1970-01-01T00:00:01Z', false],
    ['0000-01-01T00:00:00Z', false],
    ['2026-01-02T03:04:05Z', false],
  ])('accepts %s for a sentinel: %s', (text, expected) => {
    expect(isSentinel(parsed(text))).toBe(expected)
  })
})

describe('milliseconds', () => {
  it.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05.678999999Z', '2026-01-02T03:04:05.678Z'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999Z'],
    ['0000-01-01T00:00:00.000999Z', '0000-01-01T00:00:00.000Z'],
  ])('writes %s on the wire as %s', (text, expected) => {
    expect(formatMillis(instantOf(text))).toBe(expected)
  })

  it('have a wire form that reads back as the instant truncated to the millisecond', () => {
    fc.assert(
      fc.property(anyInstant, ({ micros, instant }) => {
        const wire = formatMillis(instant)
        expect(wire).toMatch(/^.{19}\.\d{3}Z$/)
        expect(instantOf(wire)).toBe(canonical(micros - (micros % 1000n)))
      }),
    )
  })

  it('since 1970 are truncated downwards on either side of 1970', () => {
    fc.assert(
      fc.property(anyInstant, ({ micros, instant }) => {
        expect(BigInt(millisOf(instant))).toBe(micros / 1000n - EPOCH_DAYS * DAY * 1000n)
      }),
    )
  })

  it('of a clock become the instant of that millisecond', () => {
    fc.assert(
      fc.property(anyMicros, (micros) => {
        const epochMs = Number(micros / 1000n - EPOCH_DAYS * DAY * 1000n)
        const instant = instantFromMillis(epochMs)
        expect(instant).toBe(canonical(micros - (micros % 1000n)))
        expect(millisOf(instant)).toBe(epochMs)
      }),
    )
  })

  it.each([
    [0.999, '1970-01-01T00:00:00.000000Z'],
    [-0.001, '1969-12-31T23:59:59.999000Z'],
    [-62167219200000, '0000-01-01T00:00:00.000000Z'],
    [253402300799999, '9999-12-31T23:59:59.999000Z'],
  ])('of a clock at %d make %s', (epochMs, expected) => {
    expect(instantFromMillis(epochMs)).toBe(expected)
  })

  it.each([NaN, Infinity, -62167219200001, 253402300800000, 8.64e15])('of a clock at %d make no instant', (epochMs) => {
    expect(() => instantFromMillis(epochMs)).toThrow(RangeError)
  })

  it('are the same for two instants exactly when their wire forms are equal', () => {
    const pair = anyInstant.chain(({ micros, instant }) =>
      fc.tuple(
        fc.constant(instant),
        fc
          .oneof(fc.bigInt({ min: -2000n, max: 2000n }), fc.bigInt({ min: -END_SECONDS, max: END_SECONDS }))
          .map((delta) => micros + delta)
          .filter((other) => other >= 0n && other < END_SECONDS * MICROS)
          .map((other) => instantOf(canonical(other))),
      ),
    )
    fc.assert(
      fc.property(pair, ([a, b]) => {
        expect(sameMillisecond(a, b)).toBe(formatMillis(a) === formatMillis(b))
      }),
    )
  })

  it.each([
    ['2026-01-02T03:04:05.678000Z', '2026-01-02T03:04:05.678999Z', true],
    ['2026-01-02T03:04:05.678999Z', '2026-01-02T03:04:05.679000Z', false],
    ['2026-01-02T03:04:05.678000Z', '1026-01-02T03:04:05.678000Z', false],
  ])('of %s and %s are the same: %s', (a, b, expected) => {
    expect(sameMillisecond(instantOf(a), instantOf(b))).toBe(expected)
  })
})

describe('the database form', () => {
  it.each([
    ['2026-11-15T02:34:23.12Z', '2026-11-15 02:34:23.120000+00'],
    ['0001-01-01T00:00:00Z', '0001-01-01 00:00:00.000000+00'],
    ['0000-02-29T23:59:59.999999Z', '0001-02-29 23:59:59.999999+00 BC'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31 23:59:59.999999+00'],
  ])('of %s is %s', (text, expected) => {
    expect(toDatabase(instantOf(text))).toBe(expected)
  })

  it.each([
    ['2026-11-15 02:34:23+00', '2026-11-15T02:34:23.000000Z'],
    ['2026-11-15 02:34:23.1+00', '2026-11-15T02:34:23.100000Z'],
    ['2026-11-15 02:34:23.12+00', '2026-11-15T02:34:23.120000Z'],
    ['2026-11-15 02:34:23.12345+00', '2026-11-15T02:34:23.123450Z'],
    ['2026-11-15 02:34:23.123456+00', '2026-11-15T02:34:23.123456Z'],
    ['0001-12-31 23:59:59+00 BC', '0000-12-31T23:59:59.000000Z'],
    ['0001-02-29 00:00:00.000001+00 BC', '0000-02-29T00:00:00.000001Z'],
    ['0001-01-01 00:00:00+00', '0001-01-01T00:00:00.000000Z'],
  ])('%s is read as %s', (text, expected) => {
    expect(fromDatabase(text)).toBe(expected)
  })

  it.each([
    ['infinity', 'infinity'],
    ['minus infinity', '-infinity'],
    ['an empty text', ''],
    ['a session zone other than UTC', '2026-11-15 02:34:23+01'],
    ['a session zone with minutes', '2026-11-15 02:34:23.5+05:30'],
    ['a timestamp without a zone', '2026-11-15 02:34:23.12'],
    ['a date', '2026-11-15'],
    ['a year behind 9999', '10000-01-01 00:00:00+00'],
    ['a year before 1 BC', '0002-12-31 23:59:59+00 BC'],
    ['a dot without digits', '2026-11-15 02:34:23.+00'],
    ['a fraction of seven digits', '2026-11-15 02:34:23.1234567+00'],
    ['another date style', '11/15/2026 02:34:23.12 UTC'],
    ['canonical text', '2026-11-15T02:34:23.120000Z'],
  ])('rejects %s as unreadable', (_, text) => {
    expect(() => fromDatabase(text)).toThrow(RangeError)
  })

  it('parses every instant that PostgreSQL prints', () => {
    fc.assert(
      fc.property(anyInstant, ({ micros, instant }) => {
        expect(fromDatabase(postgresOutput(micros))).toBe(instant)
      }),
    )
  })

  it('parses every instant that is sent to PostgreSQL', () => {
    fc.assert(
      fc.property(anyInstant, ({ micros, instant }) => {
        const sent = toDatabase(instant)
        expect(fromDatabase(sent)).toBe(instant)
        expect(sent.replace(/\.?0*\+00/, '+00')).toBe(postgresOutput(micros))
      }),
    )
  })
})

describe('the reference calendar', () => {
  it('agrees with the calendar of the runtime', () => {
    fc.assert(
      fc.property(anyMicros, (micros) => {
        const text = canonical(micros)
        expect(new Date(Date.parse(`${text.slice(0, 23)}Z`)).toISOString()).toBe(`${text.slice(0, 23)}Z`)
        expect(reference(text)?.micros).toBe(micros)
        expect(formatMillis(text as Instant)).toBe(
          new Date(Number(micros / 1000n - EPOCH_DAYS * DAY * 1000n)).toISOString(),
        )
      }),
    )
  })
})
