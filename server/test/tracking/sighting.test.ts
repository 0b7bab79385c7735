import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Instant } from '../../src/kernel/instant.ts'
import { type Sighting, firstPerMinute, minuteOf, movesAlong } from '../../src/tracking/sighting.ts'

const at = (clock: string): Instant =>
  `2026-05-04T${clock.padEnd(15, clock.includes('.') ? '0' : '.000000')}Z` as Instant

const seen = (assetId: number, locationId: number | null, clock: string): Sighting => ({
  assetId,
  locationId,
  observedAt: at(clock),
})

const [dock, hall, yard] = [1, 2, 3]

describe('the minute of an observation', () => {
  it.each([
    ['2026-05-04T10:00:00.000000Z', '2026-05-04T10:00:00.000000Z'],
    ['2026-05-04T10:00:59.999999Z', '2026-05-04T10:00:00.000000Z'],
    ['2026-12-31T23:59:30.500000Z', '2026-12-31T23:59:00.000000Z'],
    ['0000-01-01T00:00:01.000000Z', '0000-01-01T00:00:00.000000Z'],
  ])('of %s is %s', (observed, minute) => {
    expect(minuteOf(observed as Instant)).toBe(minute)
  })
})

describe('the first observation of a minute', () => {
  it('is the one that sets it, whatever order the reads came in', () => {
    const reads = [seen(7, hall, '10:00:40'), seen(7, dock, '10:00:05'), seen(7, yard, '10:00:59.999999')]
    expect(firstPerMinute(reads)).toEqual([seen(7, dock, '10:00:05')])
  })

  it('is told apart from a later one by a microsecond', () => {
    const reads = [seen(7, hall, '10:00:05.000002'), seen(7, dock, '10:00:05.000001')]
    expect(firstPerMinute(reads)).toEqual([seen(7, dock, '10:00:05.000001')])
  })

  it('is the one that came first when two carry the same instant', () => {
    const reads = [seen(7, hall, '10:00:05'), seen(7, dock, '10:00:05')]
    expect(firstPerMinute(reads)).toEqual([seen(7, hall, '10:00:05')])
  })

  it('is one per asset and minute, in the order of assets and time', () => {
    const reads = [
      seen(9, dock, '10:01:00'),
      seen(7, dock, '10:01:00'),
      seen(7, hall, '10:00:59.999999'),
      seen(9, hall, '10:01:01'),
    ]
    expect(firstPerMinute(reads)).toEqual([
      seen(7, hall, '10:00:59.999999'),
      seen(7, dock, '10:01:00'),
      seen(9, dock, '10:01:00'),
    ])
  })

  it('may be one without a location', () => {
    expect(firstPerMinute([seen(7, dock, '10:00:06'), seen(7, null, '10:00:05')])).toEqual([seen(7, null, '10:00:05')])
  })

  it('is unknown without observations', () => {
    expect(firstPerMinute([])).toEqual([])
  })

  it('changes nothing in what it is given', () => {
    const reads = Object.freeze([seen(7, hall, '10:00:40'), seen(7, dock, '10:00:05')])
    firstPerMinute(reads)
    expect(reads).toEqual([seen(7, hall, '10:00:40'), seen(7, dock, '10:00:05')])
  })

  it('holds for any reads: one per asset and minute, and none of the others is earlier', () => {
    const read = fc.record({
      assetId: fc.integer({ min: 1, max: 3 }),
      locationId: fc.option(fc.integer({ min: 1, max: 3 }), { nil: null }),
      observedAt: fc.integer({ min: 0, max: 240 }).map((second) => {
        const [minutes, seconds] = [Math.floor(second / 60), second % 60]
        return at(`10:${String(minutes).padStart(2, '0')}:${String(seconds).padStart(2, '0')}`)
      }),
    })
    fc.assert(
      fc.property(fc.array(read, { maxLength: 30 }), (reads) => {
        const first = firstPerMinute(reads)
        const key = (one: Sighting): string => `${one.assetId} ${minuteOf(one.observedAt)}`
        expect(new Set(first.map(key)).size).toBe(first.length)
        expect(new Set(first.map(key))).toEqual(new Set(reads.map(key)))
        for (const one of first) {
          const rivals = reads.filter((other) => key(other) === key(one))
          const earliest = rivals.reduce((best, other) => (other.observedAt < best.observedAt ? other : best))
          expect(one).toEqual(earliest)
        }
      }),
    )
  })
})

describe('moves along sightings', () => {
  const before = (locationId: number | null, clock: string) => ({ locationId, minute: at(clock) })
  const move = (fromId: number | null, toId: number, clock: string) => ({
    assetId: 7,
    fromId,
    toId,
    occurredAt: at(clock),
  })

  it('announces a first sighting as a move from nowhere (D32)', () => {
    expect(movesAlong(null, [seen(7, dock, '10:00:05')])).toEqual([move(null, dock, '10:00:05')])
  })

  it('announces nothing for a first sighting without a location', () => {
    expect(movesAlong(null, [seen(7, null, '10:00:05')])).toEqual([])
  })

  it('announces nothing for a rescan at the same location', () => {
    expect(movesAlong(before(dock, '09:59:00'), [seen(7, dock, '10:00:05'), seen(7, dock, '10:01:05')])).toEqual([])
  })

  it('announces a location different from the last, at the instant of the observation', () => {
    const moves = movesAlong(before(dock, '09:59:00'), [seen(7, hall, '10:00:05.000001')])
    expect(moves).toEqual([move(dock, hall, '10:00:05.000001')])
  })

  it('announces every step of a batch that spans several minutes', () => {
    const along = [
      seen(7, hall, '10:00:05'),
      seen(7, hall, '10:01:05'),
      seen(7, yard, '10:02:05'),
      seen(7, hall, '10:03:05'),
    ]
    expect(movesAlong(before(dock, '09:59:00'), along)).toEqual([
      move(dock, hall, '10:00:05'),
      move(hall, yard, '10:02:05'),
      move(yard, hall, '10:03:05'),
    ])
  })

  it('announces nothing for a scan without a location, and forgets the place with it', () => {
    const along = [seen(7, null, '10:00:05'), seen(7, dock, '10:01:05')]
    expect(movesAlong(before(dock, '09:59:00'), along)).toEqual([move(null, dock, '10:01:05')])
  })

  it('announces nothing for what is older than the last-seen minute, and keeps the place (D30)', () => {
    const along = [seen(7, hall, '09:57:05'), seen(7, yard, '09:58:05'), seen(7, dock, '10:00:05')]
    expect(movesAlong(before(dock, '09:59:00'), along)).toEqual([])
  })

  it('announces a change within the last-seen minute, which only an operator can make', () => {
    expect(movesAlong(before(dock, '10:00:00'), [seen(7, hall, '10:00:30')])).toEqual([move(dock, hall, '10:00:30')])
  })

  it('announces a first sighting from nowhere when the prior scan had no location', () => {
    expect(movesAlong(before(null, '09:59:00'), [seen(7, dock, '10:00:05')])).toEqual([move(null, dock, '10:00:05')])
  })
})
