import postgres from 'postgres'
import { describe, expect, it } from 'vitest'
import { keepRetention } from '../../src/jobs/retention.ts'
import { Site, database, eventually, useTracking } from '../support/tracking.ts'

/** Forty days: months that ended more than forty days ago are dropped. */
const context = useTracking('2026-03-20T12:00:00Z', { settings: { LASTSEEN_RETENTION_DAYS: '40' } })

const keep = (): Promise<string[]> => keepRetention(context.app.context, context.app.databaseUrl)

/** Sets the clock; earlier tokens may have expired, so the sites get new ones. */
function setClock(text: string, ...sites: Site[]): void {
  context.clock.set(text)
  for (const site of sites) Object.assign(site, { api: site.org.full })
}

const months = async (): Promise<string[]> => {
  const rows = await database(context.app)<{ name: string }[]>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'asset_minutes'::regclass order by 1`
  return rows.map((row) => row.name.replace('asset_minutes_', ''))
}

const rowsBefore = async (site: Site, instant: string): Promise<number> => {
  const [row] = await database(context.app)`
    select count(*) from asset_minutes where org_id = ${site.org.orgId} and minute < ${instant}`
  return row!['count']
}

/** Locks a table in an open transaction, as a long report does, while the work runs. */
async function whileRead<Result>(table: string, work: () => Promise<Result>): Promise<Result> {
  const sql = postgres(context.app.databaseUrl, { max: 1, onnotice: () => undefined })
  try {
    return (await sql.begin(async (tx) => {
      await tx.unsafe(`lock table only ${table} in access share mode`)
      return await work()
    })) as Result
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** Sends one read after the other until stopped; returns the longest response time in milliseconds. */
function keepReading(site: Site, tag: string, fromIso: string): () => Promise<{ count: number; longestMs: number }> {
  let isOver = false
  const sending = (async () => {
    let [count, longestMs] = [0, 0]
    while (!isOver) {
      const began = performance.now()
      await site.sendReads({ tag, observed_at: new Date(Date.parse(fromIso) + count * 60_000).toISOString() })
      longestMs = Math.max(longestMs, performance.now() - began)
      count++
    }
    return { count, longestMs }
  })()
  return () => {
    isOver = true
    return sending
  }
}

describe('deleting old history', () => {
  it('removes whole months from every history and its total, exactly, and drops the partitions', async () => {
    context.clock.set('2026-03-20T12:00:00Z')
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const [both, old, recent] = [
      await site.createAsset('Both'),
      await site.createAsset('Old'),
      await site.createAsset('Recent'),
    ]
    await site.sendReads(
      { tag: both.tag, antenna: 1, observed_at: '2026-02-11T08:00:00Z' },
      { tag: both.tag, antenna: 2, observed_at: '2026-03-19T08:00:00Z' },
      { tag: old.tag, antenna: 1, observed_at: '2026-02-12T09:00:00Z' },
      { tag: old.tag, antenna: 2, observed_at: '2026-02-28T23:59:59Z' },
    )
    setClock('2026-04-10T12:00:00Z', site)
    await site.sendReads(
      { tag: both.tag, antenna: 1, observed_at: '2026-03-31T23:59:59.999Z' },
      { tag: both.tag, antenna: 2, observed_at: '2026-04-01T00:00:00.000Z' },
      { tag: both.tag, antenna: 1, observed_at: '2026-04-05T10:00:00Z' },
      { tag: recent.tag, antenna: 1, observed_at: '2026-04-09T10:00:00Z' },
    )
    expect(await site.history(both)).toHaveLength(5)
    expect(await site.history(old)).toHaveLength(2)
    expect(await rowsBefore(site, '2026-04-01T00:00:00Z')).toBe(5)
    expect(await rowsBefore(site, '2027-01-01T00:00:00Z')).toBe(8)

    setClock('2026-05-11T00:00:00Z', site)
    const dropped = await keep()
    expect(dropped).toContain('asset_minutes_2026_02')
    expect(dropped.at(-1)).toBe('asset_minutes_2026_03')
    expect(await site.history(both)).toEqual([
      ['2026-04-01T00:00:00.000Z', 'HALL', null],
      ['2026-04-05T10:00:00.000Z', 'DOCK', 381_600],
    ])
    expect(await site.history(old)).toEqual([])
    expect(await site.history(recent)).toEqual([['2026-04-09T10:00:00.000Z', 'DOCK', null]])
    expect(await rowsBefore(site, '2026-04-01T00:00:00Z')).toBe(0)
    expect(await rowsBefore(site, '2027-01-01T00:00:00Z')).toBe(3)
    expect((await months())[0]).toBe('2026_04')

    // The last-seen location of an asset is kept, and the next run has nothing to do.
    expect((await site.assetLocations())['OLD']).toEqual(['HALL', '2026-02-28T23:59:59.000Z'])
    expect(await keep()).toEqual([])
    expect(await site.history(both)).toHaveLength(2)
  })

  it('keeps a month that is partly within the retention time', async () => {
    context.clock.set('2026-05-20T00:00:00Z')
    const site = await Site.open(context.app, 'Dock')
    const asset = await site.createAsset('Pallet')
    await site.sendReads({ tag: asset.tag, observed_at: '2026-04-11T00:00:00Z' })
    setClock('2026-06-09T23:59:59Z', site)
    expect(await keep()).toEqual([])
    expect(await site.history(asset)).toHaveLength(1)
    setClock('2026-06-10T00:00:00Z', site)
    expect(await keep()).toEqual(['asset_minutes_2026_04'])
    expect(await site.history(asset)).toEqual([])
  })

  it('creates partitions for the months that reads can have, and two months ahead', async () => {
    context.clock.set('2027-06-15T00:00:00Z')
    await keep()
    const there = await months()
    expect(there.slice(-4)).toEqual(['2027_05', '2027_06', '2027_07', '2027_08'])
    const site = await Site.open(context.app, 'Dock')
    const asset = await site.createAsset('Pallet')
    await site.sendReads({ tag: asset.tag, observed_at: '2027-06-14T10:00:00Z' })
    await site.sendReads({ tag: asset.tag, observed_at: '2027-06-15T00:02:00Z' })
    expect(await site.history(asset)).toHaveLength(2)
  })

  it('removes moves recorded before the retention time and no others', async () => {
    context.clock.set('2027-06-15T00:00:00Z')
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const other = await Site.open(context.app, 'Dock')
    const [asset, foreign] = [await site.createAsset('Pallet'), await other.createAsset('Pallet')]
    await site.sendReads({ tag: asset.tag, antenna: 1, observed_at: '2027-06-14T10:00:00Z' })
    context.clock.set('2027-06-15T00:00:01Z')
    await site.sendReads({ tag: asset.tag, antenna: 2, observed_at: '2027-06-14T11:00:00Z' })
    await other.sendReads({ tag: foreign.tag, antenna: 1, observed_at: '2027-06-14T11:00:00Z' })
    setClock('2027-07-25T00:00:01Z', site, other)
    await keep()
    expect((await site.moves()).map((move) => [move.from, move.to])).toEqual([['Dock', 'Hall']])
    expect(await other.moves()).toHaveLength(1)
    expect(await site.history(asset)).toHaveLength(2)
  })
})

describe('reads older than the retention time', () => {
  it('are ignored on arrival, counted, and change nothing (D30)', async () => {
    context.clock.set('2027-08-20T00:00:00Z')
    await keep()
    const site = await Site.open(context.app, 'Dock')
    const asset = await site.createAsset('Pallet')
    const reply = await site.post({
      reads: [
        { tag: asset.tag, observed_at: '2027-07-10T23:59:59.999Z' },
        { tag: asset.tag, observed_at: '2027-07-11T00:00:00.000Z' },
        { tag: asset.tag, observed_at: '2019-01-01T00:00:00Z' },
      ],
    })
    expect([reply.status, reply.json]).toEqual([202, { data: { accepted: 1, ignored: 2 } }])
    expect(await site.history(asset)).toEqual([['2027-07-11T00:00:00.000Z', 'DOCK', null]])
    await eventually(async () => {
      const [row] = await database(context.app)`
        select messages, reads, ignored from readers where id = ${site.readerId}`
      expect({ ...row }).toEqual({ messages: 1, reads: 1, ignored: 2 })
    })
  })
})

describe('reads that arrive while old history is deleted', () => {
  it('do not wait, also when a long report locks the month to be dropped', async () => {
    context.clock.set('2027-10-20T00:00:00Z')
    await keep()
    const site = await Site.open(context.app, 'Dock')
    const [asset, busy] = [await site.createAsset('Pallet'), await site.createAsset('Busy')]
    await site.sendReads({ tag: asset.tag, observed_at: '2027-09-11T00:00:00Z' })
    await site.sendReads({ tag: asset.tag, observed_at: '2027-10-12T00:00:00Z' })
    setClock('2027-11-15T00:00:00Z', site)
    const stop = keepReading(site, busy.tag, '2027-11-01T00:00:00Z')
    await whileRead('asset_minutes_2027_09', async () => {
      await expect(keep()).rejects.toThrow(/lock timeout/)
      // Its rows still exist, but no history shows or counts them.
      expect(await rowsBefore(site, '2027-10-01T00:00:00Z')).toBe(1)
      expect(await site.history(asset)).toEqual([['2027-10-12T00:00:00.000Z', 'DOCK', null]])
    })
    expect(await keep()).toEqual(['asset_minutes_2027_09'])
    const { count, longestMs } = await stop()
    expect(longestMs).toBeLessThan(1000)
    expect(await rowsBefore(site, '2027-10-01T00:00:00Z')).toBe(0)
    expect(await site.history(asset)).toHaveLength(1)
    expect((await site.api.get(`/api/v1/assets/${busy.id}/history`)).json.total_count).toBe(count)
  })

  it('do not wait for a partition that is created while a long report runs', async () => {
    context.clock.set('2027-11-20T00:00:00Z')
    const site = await Site.open(context.app, 'Dock')
    const busy = await site.createAsset('Busy')
    context.clock.set('2027-12-20T00:00:00Z')
    const stop = keepReading(site, busy.tag, '2027-12-01T00:00:00Z')
    await whileRead('asset_minutes', async () => {
      await Promise.race([keep().catch(() => undefined), new Promise((resume) => setTimeout(resume, 2500))])
    })
    const { longestMs } = await stop()
    expect(longestMs).toBeLessThan(1000)
    await keep()
    expect((await months()).at(-1)).toBe('2028_02')
  })
})
