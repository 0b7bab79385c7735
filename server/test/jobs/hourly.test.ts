import { pino } from 'pino'
import { afterEach, expect, it, vi } from 'vitest'
import { startHourlyJobs } from '../../src/jobs/hourly.ts'
import { useApp } from '../support/app.ts'
import { withSql } from '../support/process.ts'

const context = useApp({ singleServerReason: 'The test starts the jobs itself.' })
afterEach(() => {
  vi.useRealTimers()
})

it('The hourly jobs run for the first time a minute after the start, and then every hour', async () => {
  const { context: appContext, databaseUrl } = context.app
  const runs: { job: string; work: () => Promise<unknown> }[] = []
  const runJob = async (job: string, work: () => Promise<unknown>): Promise<void> => void runs.push({ job, work })
  const options = { log: pino({ level: 'silent' }), runJob, onPartitionsDropped: () => undefined }
  const jobs = (): string[] => runs.map(({ job }) => job)

  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const stop = startHourlyJobs(appContext, databaseUrl, options)
  await vi.advanceTimersByTimeAsync(59_999)
  expect(jobs()).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(jobs()).toEqual(['retention', 'storage'])
  await vi.advanceTimersByTimeAsync(3_540_000)
  expect(jobs()).toEqual(['retention', 'storage', 'retention', 'storage'])
  await stop()
  await vi.advanceTimersByTimeAsync(7_200_000)
  expect(runs).toHaveLength(4)
  vi.useRealTimers()

  await withSql(databaseUrl, async (sql) => {
    await sql`insert into users values (1, 'reset@example.com', '', now())`
    await sql`insert into password_resets values ('link', 1, now(), now() - interval '1 second')`
    await runs[0]!.work()
    expect(await sql`select from password_resets`).toHaveLength(0)
  })
})
