import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { OverviewCache } from '../../src/tracking/report/overview-cache.ts'
import { Site, database, useTracking } from '../support/tracking.ts'

const context = useTracking('2026-05-04T12:30:00Z')

/** Counting takes at least this long, because another session locks the table. */
async function countSlowly(overviews: OverviewCache, orgId: number, ms: number): Promise<string[]> {
  const { counted } = await database(context.app).begin(async (tx) => {
    await tx`lock table locations in access exclusive mode`
    const counting = { counted: namesOf(overviews, orgId) }
    await sleep(ms)
    return counting
  })
  return counted
}

const namesOf = async (overviews: OverviewCache, orgId: number): Promise<string[]> =>
  (await overviews.of(orgId)).locations.map(({ name }) => name).sort()

describe('An overview that took long to compute', () => {
  it('is computed again a second later', async () => {
    const { db, clock } = context.app.context
    const overviews = new OverviewCache({ db, clock })
    const site = await Site.open(context.app, 'Yard')
    const { orgId } = site.org
    expect(await countSlowly(overviews, orgId, 2000)).toEqual(['Yard'])
    await site.createLocation('Shed')
    await sleep(1100)
    expect(await namesOf(overviews, orgId)).toEqual(['Shed', 'Yard'])
  })
})
