import { describe, expect, it } from 'vitest'
import { type Instant, millisOf } from '../../src/kernel/instant.ts'
import { readerClocks, observedAtResolver } from '../../src/tracking/observed-time.ts'

const at = (clock: string): Instant => `2026-05-04T${clock}Z` as Instant

const arrival = at('12:00:00.000000')
const arrivedAtMs = millisOf(arrival)

describe('when a read counts as observed (D30)', () => {
  it.each([
    ['a timestamp of now', '12:00:00.000000', '12:00:00.000000'],
    ['an old timestamp, to the microsecond', '07:13:09.123456', '07:13:09.123456'],
    ['a timestamp slightly ahead', '12:01:30.000000', '12:01:30.000000'],
    ['a timestamp exactly two minutes ahead', '12:02:00.000000', '12:02:00.000000'],
  ])('keeps %s', (_, hmacTag, settled) => {
    expect(observedAtResolver(arrivedAtMs, 'reader', null)(at(hmacTag))).toBe(at(settled))
  })

  it.each([
    ['a microsecond over two minutes ahead', '12:02:00.000001'],
    ['hours ahead', '19:00:00.000000'],
  ])('uses the receive time for a read with the timestamp %s', (_, hmacTag) => {
    expect(observedAtResolver(arrivedAtMs, 'reader', null)(at(hmacTag))).toBe(arrival)
  })

  it.each(readerClocks)('uses the receive time for a read without a timestamp when the clock is “%s”', (clock) => {
    expect(observedAtResolver(arrivedAtMs, clock, at('11:00:00.000000'))(null)).toBe(arrival)
  })

  it('uses the receive time for every read when the server’s clock is configured', () => {
    expect(observedAtResolver(arrivedAtMs, 'server', at('11:00:01.000000'))(at('11:00:00.000000'))).toBe(arrival)
  })

  it('keeps a timestamp when the message has a sending time but the reader’s clock is trusted', () => {
    const hmacTag = at('11:00:00.123456')
    expect(observedAtResolver(arrivedAtMs, 'reader', at('11:00:01.000000'))(hmacTag)).toBe(hmacTag)
  })
})

describe('a reader’s clock corrected by the message’s sending time', () => {
  it.each([
    ['an hour slow', '10:59:50.000000', '11:00:00.000000', '11:59:50.000000'],
    ['an hour fast', '12:59:50.000000', '13:00:00.000000', '11:59:50.000000'],
    ['right', '11:59:50.250000', '12:00:00.000000', '11:59:50.250000'],
  ])(
    'subtracts the time between read and sending from the receive time, with the clock %s',
    (_, hmacTag, sent, settled) => {
      expect(observedAtResolver(arrivedAtMs, 'sent_at', at(sent))(at(hmacTag))).toBe(at(settled))
    },
  )

  it('keeps the timestamp when the message has no sending time', () => {
    expect(observedAtResolver(arrivedAtMs, 'sent_at', null)(at('11:00:00.123456'))).toBe(at('11:00:00.123456'))
  })

  it('uses the receive time when the corrected time is over two minutes ahead', () => {
    expect(observedAtResolver(arrivedAtMs, 'sent_at', at('11:00:00.000000'))(at('11:02:00.001000'))).toBe(arrival)
    expect(observedAtResolver(arrivedAtMs, 'sent_at', at('11:00:00.000000'))(at('11:02:00.000000'))).toBe(
      at('12:02:00.000000'),
    )
  })
})
