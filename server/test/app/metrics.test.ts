import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { jobRunner } from '../../src/app/job-metrics.ts'
import { create } from '../support/master-data.ts'
import { parseMetrics, readMetrics } from '../support/metrics.ts'
import { repository } from '../support/process.ts'
import { Site, database, eventually, useTracking } from '../support/tracking.ts'
import { WebhookOrg, urlOf, useWebhookNetwork } from '../support/webhooks.ts'

const singleServerReason = 'each server has its own metrics'
const context = useTracking('2026-09-22T00:00:00Z', { singleServerReason })
const network = useWebhookNetwork({ singleServerReason })

const metrics = () => readMetrics(context.app.url)

describe('The metrics of reads', () => {
  it('count accepted reads that were observed more than a minute before they arrived as late', async () => {
    const site = await Site.open(context.app, 'Dock')
    const asset = await site.createAsset('Pallet')
    const before = (await metrics()).sum('lastseen_ingest_late_reads_total', { format: 'auto' })
    await site.sendReads(
      { tag: asset.tag, observed_at: '2026-09-21T23:58:59Z' },
      { tag: asset.tag, observed_at: '2026-09-21T23:59:00Z' },
    )
    expect((await metrics()).sum('lastseen_ingest_late_reads_total', { format: 'auto' }) - before).toBe(1)
  })

  it('measure how long the transaction of a batch takes', async () => {
    const site = await Site.open(context.app, 'Dock')
    const before = (await metrics()).sum('lastseen_ingest_batch_duration_seconds_count')
    await site.sendReads({ tag: (await site.createAsset('Box')).tag, observed_at: '2026-09-21T23:59:30Z' })
    const after = await metrics()
    expect(after.sum('lastseen_ingest_batch_duration_seconds_count') - before).toBe(1)
    expect(after.sum('lastseen_ingest_batch_duration_seconds_sum')).toBeGreaterThan(0)
  })
})

describe('The metrics of queues and connections', () => {
  it('show the request in flight and the connection that it uses', async () => {
    const site = await Site.open(context.app, 'Dock')
    const { db } = context.app.context
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    const before = await metrics()
    const transaction = db.withTenant(site.org.orgId, () => released)
    const during = await metrics()
    release()
    await transaction
    const inUse = (text: typeof before) => text.sum('lastseen_database_pool_in_use', { pool: 'transactions' })
    expect(inUse(during) - inUse(before)).toBe(1)
    expect(during.sum('lastseen_database_pool_connections', { pool: 'transactions' })).toBeGreaterThan(0)
    expect(during.sum('lastseen_database_pool_size', { pool: 'transactions' })).toBe(8)
    expect(during.sum('lastseen_database_pool_waiting', { pool: 'transactions' })).toBe(0)
    expect(during.samples.filter(({ name }) => name === 'lastseen_http_requests_in_flight')).toHaveLength(6)
  })

  it('show transactions that wait for a connection', async () => {
    const site = await Site.open(context.app, 'Dock')
    const { db } = context.app.context
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    const transactions = Array.from({ length: 12 }, () => db.withTenant(site.org.orgId, () => released))
    const during = await metrics()
    release()
    await Promise.all(transactions)
    expect(during.sum('lastseen_database_pool_waiting', { pool: 'transactions' })).toBeGreaterThanOrEqual(4)
    expect((await metrics()).sum('lastseen_database_pool_waiting', { pool: 'transactions' })).toBe(0)
  })
})

describe('The metrics of jobs', () => {
  it('count the runs of the periodic jobs of a server', async () => {
    await eventually(async () => {
      const now = await metrics()
      for (const task of ['publish-moves', 'reader-activity', 'latest-reads', 'webhook-sweep'])
        expect(now.sum('lastseen_job_runs_total', { task, outcome: 'succeeded' }), task).toBeGreaterThan(0)
    })
  })

  it('count successes and failures, the duration, and the time of the last success', async () => {
    const registry = new Registry()
    const run = jobRunner(pino({ level: 'silent' }), registry)
    const startedAt = Date.now() / 1000
    await run('retention', async () => undefined)
    const first = parseMetrics(await registry.metrics())
    const lastSuccess = first.sum('lastseen_job_last_success_timestamp_seconds', { task: 'retention' })
    expect(lastSuccess).toBeGreaterThanOrEqual(Math.floor(startedAt))
    await run('retention', () => Promise.reject(new Error('no disk space')))
    const second = parseMetrics(await registry.metrics())
    expect(second.sum('lastseen_job_runs_total', { task: 'retention', outcome: 'succeeded' })).toBe(1)
    expect(second.sum('lastseen_job_runs_total', { task: 'retention', outcome: 'failed' })).toBe(1)
    expect(second.sum('lastseen_job_duration_seconds_count', { task: 'retention' })).toBe(2)
    expect(second.sum('lastseen_job_last_success_timestamp_seconds', { task: 'retention' })).toBe(lastSuccess)
  })

  it('show the bulk jobs that run and those that wait for another job of the organization', async () => {
    const org = await context.app.newOrg()
    const dock = await create(org.full, 'locations', { external_key: 'DOCK', name: 'before' })
    const token = (await org.signIn('admin')).accessToken
    const submit = async (key: string): Promise<number> => {
      const reply = await org.full.post('/api/v1/bulk/locations?mode=upsert', [{ external_key: key, name: key }])
      expect(reply.status, reply.text).toBe(202)
      return reply.json.data.id
    }
    const load = async (): Promise<number[]> => {
      const now = await metrics()
      return [now.sum('lastseen_bulk_jobs_running'), now.sum('lastseen_bulk_jobs_waiting')]
    }
    // The first job waits for the lock of the location that it changes.
    const lock = await database(context.app).reserve()
    await lock`begin`
    await lock`select from locations where org_id = ${org.orgId} and id = ${dock.id} for update`
    for (const key of ['DOCK', 'HALL']) await submit(key)
    const last = await submit('YARD')
    expect(await load()).toEqual([1, 2])
    expect((await context.app.anonymous('DELETE', `/api/v1/imports/${last}`, { token })).status).toBe(204)
    expect(await load()).toEqual([1, 1])
    await lock`rollback`
    lock.release()
    await eventually(async () => expect(await load()).toEqual([0, 0]))
  })

  it('count bulk jobs by outcome', async () => {
    const org = await context.app.newOrg()
    const before = await metrics()
    const reply = await org.full.post('/api/v1/bulk/locations', [{ external_key: 'DOCK', name: 'Dock' }])
    expect(reply.status, reply.text).toBe(202)
    await eventually(async () => {
      const now = await metrics()
      for (const [name, labels] of [
        ['lastseen_bulk_jobs_total', { outcome: 'done' }],
        ['lastseen_bulk_job_duration_seconds_count', {}],
      ] as const)
        expect(now.sum(name, labels) - before.sum(name, labels), name).toBe(1)
    })
  })
})

it('The metrics of webhooks measure the duration of an attempt', async () => {
  const receiver = await network.receiver()
  const org = await WebhookOrg.with(network.app, urlOf(receiver))
  await org.move()
  await eventually(async () => {
    const now = await readMetrics(network.app.url)
    expect(now.sum('lastseen_webhook_attempt_duration_seconds_count')).toBe(1)
    expect(now.sum('lastseen_webhook_attempts_total', { outcome: 'delivered' })).toBe(1)
  })
})

describe('Every metric of the service', () => {
  const ours = async () => (await metrics()).families.filter(({ name }) => name.startsWith('lastseen_'))

  it('has a name with base units and the suffix of its type, and a help text', async () => {
    for (const { name, type, help } of await ours()) {
      expect(name).toMatch(/^lastseen_[a-z]+(_[a-z]+)*$/)
      expect(name.endsWith('_total'), `${name} is a ${type}`).toBe(type === 'counter')
      expect(name, 'suffixes that Prometheus adds itself').not.toMatch(/_(count|sum|bucket)$/)
      expect(name, 'only base units').not.toMatch(/_(ms|millis|milliseconds|minutes|hours|days|kib|mib|percent)(_|$)/)
      expect(name, 'no type in the name').not.toMatch(/_(counter|gauge|histogram|summary)(_|$)/)
      expect(help, name).toMatch(/^[A-Z].+\.$/)
    }
  })

  it('is in the table of docs/operating/monitoring.md with its type and labels, and the table has no other', async () => {
    const page = readFileSync(join(repository, 'docs/operating/monitoring.md'), 'utf8')
    const rows = [...page.matchAll(/^\| `(lastseen_\w+)` \| (\w+) \|([^|]*)\|/gm)]
    const listed = rows.map(([, name, type]) => `${name} ${type}`)
    // Registered only with an external broker.
    const external = ['lastseen_mqtt_broker_connected gauge', 'lastseen_mqtt_broker_outage_seconds gauge']
    // Registered only with the embedded broker.
    const embedded = ['lastseen_mqtt_connections gauge']
    const families = (await ours()).map(({ name, type }) => `${name} ${type}`)
    expect(listed.toSorted()).toEqual([...families, ...external, ...embedded].toSorted())
    const { samples } = await metrics()
    for (const [, name = '', _type, labels = ''] of rows) {
      const documented = [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label).toSorted()
      for (const sample of samples.filter((one) => one.name.replace(/_(bucket|sum|count)$/, '') === name))
        expect(
          Object.keys(sample.labels)
            .filter((label) => label !== 'le')
            .toSorted(),
          name,
        ).toEqual(documented)
    }
  })
})
