import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Smoothing } from '../../src/readers/reader.ts'
import { minuteOf } from '../../src/tracking/sighting.ts'
import {
  type RecentSighting,
  type Observation,
  mergeRecent,
  isConfirmed,
  smooth,
} from '../../src/tracking/recording/smoothing.ts'
import { instant } from '../support/tracking.ts'

const [home, away, third] = [1, 2, 3]
const at = (seconds: number) => instant(new Date(Date.parse('2026-05-04T08:00:00Z') + seconds * 1000).toISOString())
const sighting = (seconds: number, locationId: number | null, rssiDbm: number | null = null): RecentSighting => ({
  locationId,
  observedAt: at(seconds),
  rssiDbm,
})
const rule: Smoothing = { reads: 3, seconds: 30, marginDb: 6 }

describe('another location is confirmed', () => {
  it.each<[string, boolean, RecentSighting[]]>([
    ['not at the first sighting', false, [sighting(50, away)]],
    ['not at the second', false, [sighting(40, away), sighting(50, away)]],
    ['at the third in a row', true, [sighting(30, away), sighting(40, away), sighting(50, away)]],
    ['with one exactly so long ago', true, [sighting(20, away), sighting(40, away), sighting(50, away)]],
    ['not with one longer ago', false, [sighting(19.999, away), sighting(40, away), sighting(50, away)]],
    [
      'not when the current location comes in between',
      false,
      [sighting(30, away), sighting(35, home), sighting(40, away), sighting(50, away)],
    ],
    [
      'when the current location came before',
      true,
      [sighting(29, home), sighting(30, away), sighting(40, away), sighting(50, away)],
    ],
    [
      'although a third location comes in between',
      true,
      [sighting(30, away), sighting(35, third), sighting(40, away), sighting(50, away)],
    ],
    ['whatever is seen later', false, [sighting(50, away), sighting(51, away), sighting(52, away)]],
    ['at once when it is so much stronger', true, [sighting(45, home, -70), sighting(50, away, -64)]],
    ['not when it is a little less stronger', false, [sighting(45, home, -70), sighting(50, away, -65)]],
    [
      'not when the current location was stronger a moment before',
      false,
      [sighting(40, home, -60), sighting(45, home, -70), sighting(50, away, -64)],
    ],
    ['not by strength alone', false, [sighting(50, away, -20)]],
    ['not by a strength measured long ago', false, [sighting(10, home, -90), sighting(50, away, -20)]],
  ])('%s', (_when, expected, known) => {
    const seen = known.find((one) => one.observedAt === at(50))!
    expect(isConfirmed(rule, home, seen, known)).toBe(expected)
  })

  it('never by signal strength when no margin is set', () => {
    const known = [sighting(45, home, -90), sighting(50, away, -20)]
    expect(isConfirmed({ ...rule, marginDb: null }, home, known[1]!, known)).toBe(false)
  })

  it('never by signal strength when it is null', () => {
    const known = [sighting(45, home, -90), sighting(50, null, -20)]
    expect(isConfirmed(rule, home, known[1]!, known)).toBe(false)
  })
})

const observation = fc.record({
  seconds: fc.integer({ min: 0, max: 400 }),
  locationId: fc.constantFrom(home, home, away, away, third, null),
  rssiDbm: fc.option(fc.integer({ min: -100, max: -30 }), { nil: null }),
  isSmoothed: fc.boolean(),
})

type DrawnObservation = typeof observation extends fc.Arbitrary<infer One> ? One : never

const observed = (drawn: readonly DrawnObservation[]): Observation[] =>
  drawn
    .toSorted((a, b) => a.seconds - b.seconds)
    .map((one) => ({
      assetId: 7,
      locationId: one.locationId,
      observedAt: at(one.seconds),
      rssiDbm: one.rssiDbm,
      smoothing: one.isSmoothed ? rule : null,
    }))

const before = fc.option(
  fc.record({ locationId: fc.constantFrom(home, away, null), minute: fc.constantFrom(at(0), at(120), at(240)) }),
  { nil: null },
)

describe('any series of sightings', () => {
  it('keeps its instants and its count, so that every minute stays recorded', () => {
    fc.assert(
      fc.property(fc.array(observation), before, (drawn, start) => {
        const given = observed(drawn)
        const result = smooth(start, given, mergeRecent([], given))
        expect(result.map((one) => [one.assetId, one.observedAt])).toEqual(given.map((one) => [7, one.observedAt]))
      }),
    )
  })

  it('is not changed without smoothing, or when the minute is not after the last one', () => {
    fc.assert(
      fc.property(fc.array(observation), before, (drawn, start) => {
        const given = observed(drawn)
        const result = smooth(start, given, mergeRecent([], given))
        const off = given.map((one) => ({ ...one, smoothing: null }))
        expect(smooth(start, off, []).map((one) => one.locationId)).toEqual(given.map((one) => one.locationId))
        given.forEach((one, index) => {
          if (minuteOf(one.observedAt) <= (start?.minute ?? '')) expect(result[index]!.locationId).toBe(one.locationId)
        })
      }),
    )
  })

  it('results only in the current location or a location where the asset was seen', () => {
    fc.assert(
      fc.property(fc.array(observation), before, (drawn, start) => {
        const given = observed(drawn)
        let location = start?.locationId ?? null
        let last: string = start?.minute ?? ''
        smooth(start, given, mergeRecent([], given)).forEach((one, index) => {
          if (minuteOf(one.observedAt) <= last) return
          last = minuteOf(one.observedAt)
          expect([location, given[index]!.locationId]).toContain(one.locationId)
          location = one.locationId
        })
      }),
    )
  })

  it('has the same result when parts of it are redelivered, in any order (D31)', () => {
    fc.assert(
      fc.property(
        fc.array(observation, { minLength: 1, maxLength: 30 }),
        fc.array(fc.nat()),
        before,
        (drawn, again, start) => {
          const given = observed(drawn)
          let known = mergeRecent([], given)
          const once = smooth(start, given, known)
          for (const which of again) known = mergeRecent(known, [given[which % given.length]!])
          expect(smooth(start, given, mergeRecent(known, given))).toEqual(once)
        },
      ),
    )
  })
})

describe('what is known of an asset', () => {
  it('is every sighting in order, whichever came first', () => {
    const all = Array.from({ length: 100 }, (_, index) => sighting(index, home))
    const known = all.toReversed().reduce<RecentSighting[]>((before, one) => mergeRecent(before, [one]), [])
    expect(known).toEqual(all)
  })
})
