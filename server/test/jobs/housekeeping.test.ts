import { describe, expect, it } from 'vitest'
import { startHousekeeping } from '../../src/jobs/housekeeping.ts'
import { LastUsedRecorder } from '../../src/auth/last-used-recorder.ts'
import { useApp } from '../support/app.ts'
import { withSql } from '../support/process.ts'
import { eventually } from '../support/tracking.ts'

const minuteMs = 60_000

describe('housekeeping', () => {
  const context = useApp()

  it('deletes buckets that have been full for long and counters whose window is over, and nothing newer', async () => {
    const { context: appContext, databaseUrl } = context.app
    const nowMs = appContext.clock.millis()
    const [old, fresh] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002']
    await withSql(databaseUrl, async (sql) => {
      for (const [id, minutes] of [
        [old, 21],
        [fresh, 19],
      ] as const)
        await sql`insert into rate_buckets values (${id}, 0, ${nowMs - minutes * minuteMs}, true, true)`
      for (const [subject, minutes] of [
        ['old', 6],
        ['fresh', 4],
        ['hour:kept', 59],
        ['day:kept', 24 * 60 - 1],
        ['day:old', 24 * 60 + 1],
      ] as const)
        await sql`insert into sign_in_failures values (${subject}, ${new Date(nowMs - minutes * minuteMs)}, 1, 0, true)`
    })

    const runJob = async (_job: string, work: () => Promise<unknown>): Promise<void> => {
      await work()
    }
    const stop = startHousekeeping(appContext, new LastUsedRecorder(appContext.db, appContext.clock), runJob, 20)
    const left = () =>
      withSql(databaseUrl, async (sql) => [
        ...(await sql`select client_id::text as name from rate_buckets where client_id in ${sql([old, fresh])}`),
        ...(await sql`select subject as name from sign_in_failures where subject ~ '(old|fresh|kept)$' order by 1`),
      ])
    await eventually(async () => expect((await left()).length).toBeLessThanOrEqual(4))
    await stop()
    expect((await left()).map((row) => row['name'])).toEqual([fresh, 'day:kept', 'fresh', 'hour:kept'])
  })
})
