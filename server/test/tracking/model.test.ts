import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Action, ModelRun, type Question } from '../support/model-run.ts'
import { ModelDatabase, assetIds, locationIds, readerIds, tagNames } from '../support/model-database.ts'
import { modelRuns } from '../support/rounds.ts'

/** More runs: `TEST_MODEL_RUNS=20000 npx vitest run test/tracking/model`. A failure prints the seed that repeats it. */
const numRuns = Number(process.env['TEST_MODEL_RUNS'] ?? modelRuns(1000))

let world: ModelDatabase
beforeAll(async () => {
  world = await ModelDatabase.open()
})
afterAll(() => world.close())

const [seconds, days] = [1_000_000, 86_400_000_000]

const [location, asset, reader] = [locationIds, assetIds, readerIds].map((ids) => fc.constantFrom(...ids)) as [
  fc.Arbitrary<number>,
  fc.Arbitrary<number>,
  fc.Arbitrary<number>,
]

/** Mostly within a few minutes, so that minutes are shared; sometimes on a bound, ahead of it, or without a timestamp. */
const offset = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: -240 * seconds, max: 115 * seconds }) },
  { weight: 2, arbitrary: fc.constantFrom(0, -1, 1, -60 * seconds, 120 * seconds, 120 * seconds + 1, -600 * seconds) },
  { weight: 1, arbitrary: fc.constantFrom(null, 180 * seconds, -400 * days, -400 * days - 1) },
)

const read = fc.record({
  tag: fc.constantFrom(...tagNames, ...tagNames, 'T-9'),
  antenna: fc.constantFrom(1, 1, 2, 2, 3),
  offset,
})

const kind = <const K extends Action['kind']>(...kinds: K[]): fc.Arbitrary<K> => fc.constantFrom(...kinds)

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ kind: kind('read'), reader, reads: fc.array(read, { minLength: 1, maxLength: 6 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: kind('redeliver'), which: fc.nat(20) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: kind('save'),
      location,
      assets: fc.array(asset, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: kind('wait'), seconds: fc.integer({ min: 1, max: 90 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: kind('delete location', 'rename location', 'name location'), id: location }),
  },
  { weight: 2, arbitrary: fc.record({ kind: kind('delete asset', 'rename asset', 'name asset'), id: asset }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: kind('move tag'), tag: fc.constantFrom(...tagNames), assetId: asset }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: kind('point antenna'),
      reader,
      antenna: fc.constantFrom(1, 2, 3),
      location: fc.option(location, { nil: null }),
    }),
  },
)

describe('reads, saves and changes in any order', () => {
  it('lead to the history, the report and the moves of the reference model', { timeout: 3_600_000 }, async () => {
    const property = fc.asyncProperty(
      fc.array(action, { minLength: 3, maxLength: 14 }),
      fc.integer({ min: -400 * seconds, max: 400 * seconds }),
      async (actions, atOffset) => {
        const run = new ModelRun(world, await world.unusedOrg())
        for (const one of actions) await run.perform(one)
        await run.compare(run.model.now + atOffset)
      },
    )
    await fc.assert(property, { numRuns })
  })
})

/** Two minutes are the most that a reader's clock may be ahead. */
const deletion = fc.record({
  kind: kind('delete moves'),
  ageSeconds: fc.integer({ min: 0, max: 300 }),
  marginMs: fc.constantFrom(120_000, 86_400_000),
})

const question: fc.Arbitrary<Question> = fc.record({
  isWithDeleted: fc.boolean(),
  atOffset: fc.option(
    fc.oneof(fc.integer({ min: -500 * seconds, max: 130 * seconds }), fc.constantFrom(-60 * seconds, 0)),
    { nil: undefined, freq: 8 },
  ),
  locationIds: fc.option(fc.uniqueArray(location, { minLength: 1, maxLength: 3 }), { nil: undefined }),
  sort: fc.uniqueArray(
    fc.record({
      field: fc.constantFrom('asset_last_seen', 'asset_external_key', 'location_external_key'),
      descending: fc.boolean(),
    }),
    { minLength: 1, maxLength: 3, selector: (term) => term.field, size: 'xsmall' },
  ),
  limit: fc.constantFrom(1, 2, 50),
  limits: fc.constantFrom(undefined, { maxUnorderedAssets: 0, slice: 1 }, { maxUnorderedAssets: 0, slice: 2 }),
})

describe('the report at any instant, in any order and with any filter', () => {
  it('lists the positions of the reference model, page by page (D25, D34)', { timeout: 3_600_000 }, async () => {
    const property = fc.asyncProperty(
      fc.array(fc.oneof({ weight: 12, arbitrary: action }, { weight: 1, arbitrary: deletion }), {
        minLength: 3,
        maxLength: 14,
      }),
      fc.array(question, { minLength: 6, maxLength: 6 }),
      async (actions, questions) => {
        const run = new ModelRun(world, await world.unusedOrg())
        for (const one of actions) await run.perform(one)
        for (const one of questions) await run.compareReport(one)
      },
    )
    await fc.assert(property, { numRuns })
  })
})

describe('the history of a location', () => {
  const bound = fc.option(fc.integer({ min: -500 * seconds, max: 130 * seconds }), { nil: undefined })

  it('lists and counts its arrivals and departures within any bounds', { timeout: 3_600_000 }, async () => {
    const property = fc.asyncProperty(
      fc.array(action, { minLength: 3, maxLength: 14 }),
      fc.array(fc.tuple(location, bound, bound, fc.constantFrom(1, 2, 50)), { minLength: 6, maxLength: 6 }),
      async (actions, questions) => {
        const run = new ModelRun(world, await world.unusedOrg())
        for (const one of actions) await run.perform(one)
        for (const [id, fromOffset, toOffset, limit] of questions)
          await run.compareLocationEvents(id, { fromOffset, toOffset }, limit)
      },
    )
    await fc.assert(property, { numRuns })
  })
})

describe('messages of reads with timestamps', () => {
  /** Timestamps that are accepted now are accepted later, so the minute of each read is fixed. */
  const stamped = fc.record({
    kind: kind('read'),
    reader,
    reads: fc.array(
      fc.record({
        ...{ tag: read.map((one) => one.tag), antenna: fc.constantFrom(1, 2, 3) },
        offset: fc.integer({ min: -240 * seconds, max: 120 * seconds }),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  })

  it(
    'change nothing when they are delivered again, in any order and any number of times (D31)',
    { timeout: 3_600_000 },
    async () => {
      const property = fc.asyncProperty(
        fc.array(stamped, { minLength: 1, maxLength: 5 }),
        fc.array(fc.nat(20), { minLength: 1, maxLength: 6 }),
        async (messages, repeats) => {
          const run = new ModelRun(world, await world.unusedOrg())
          for (const message of messages) await run.perform(message)
          const before = JSON.stringify([assetIds.map((id) => run.model.history(id)), run.model.moves])
          for (const which of repeats) await run.perform({ kind: 'redeliver', which })
          expect(JSON.stringify([assetIds.map((id) => run.model.history(id)), run.model.moves])).toBe(before)
          await run.compare(run.model.now)
        },
      )
      await fc.assert(property, { numRuns: Math.ceil(numRuns / 5) })
    },
  )
})

describe('dwell times of any period', () => {
  it('are those of the moves of every asset', { timeout: 3_600_000 }, async () => {
    const past = fc.oneof(fc.integer({ min: -400 * seconds, max: 0 }), fc.constantFrom(-60 * seconds, 0))
    const property = fc.asyncProperty(
      fc.array(action, { minLength: 3, maxLength: 14 }),
      fc.array(fc.tuple(past, past), { minLength: 6, maxLength: 6 }),
      async (actions, periods) => {
        const run = new ModelRun(world, await world.unusedOrg())
        for (const one of actions) {
          // A minute that an operator overrides may have an earlier instant if the clock of a reader is ahead.
          const isAhead = one.kind === 'read' && one.reads.some(({ offset }) => (offset ?? 0) > 0)
          if (!isAhead) await run.perform(one)
          await run.perform({ kind: 'wait', seconds: 1 })
        }
        for (const [one, other] of periods) await run.compareDwell(Math.min(one, other), Math.max(one, other))
      },
    )
    await fc.assert(property, { numRuns })
  })
})
