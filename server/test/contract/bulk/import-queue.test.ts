import { beforeEach, describe, expect, it } from 'vitest'
import { keepRetention } from '../../../src/jobs/retention.ts'
import { type TestOrg, useApp, useSecondApp } from '../../support/app.ts'
import { ManualClock } from '../../support/auth.ts'
import { expectApiError } from '../../support/error-response.ts'
import { ImportRun } from '../../support/imports.ts'
import { create } from '../../support/master-data.ts'
import { useSnapshotDatabase } from '../../support/tenant-snapshot.ts'

const clock = new ManualClock()
// A pool of one leaves two connections for transactions, so that requests are delayed if imports use them.
const context = useApp({ clock, settings: { LASTSEEN_DATABASE_POOL: '1' } })
const database = useSnapshotDatabase(context)
const second = useSecondApp(context, { clock })

let org: TestOrg
let token: string
beforeEach(async () => {
  org = await context.app.newOrg()
  token = (await org.signIn('manager')).accessToken
})

const begin = (by = token): Promise<ImportRun> => new ImportRun(context.app, by).open('assets')
const drop = (run: ImportRun) => context.app.anonymous('DELETE', `/api/v1/imports/${run.id}`, { token })

/** An import that runs until `release` is called: it waits for the lock of an asset that it changes. */
async function blockedRun(): Promise<{ run: ImportRun; release: () => Promise<void> }> {
  const asset = await create(org.full, 'assets', { external_key: 'HELD', name: 'before' })
  const run = await (await begin()).rows([{ external_key: 'HELD', name: 'after' }])
  await run.check()
  const lock = await database.sql.reserve()
  await lock`begin`
  await lock`select from assets where org_id = ${org.orgId} and id = ${asset.id} for update`
  expect((await run.post('run', { skip_errors: false })).status).toBe(202)
  await expect.poll(async () => (await run.get()).state).toBe('running')
  return {
    run,
    async release() {
      await lock`rollback`
      lock.release()
    },
  }
}

describe('Imports of one organization', () => {
  it('run one at a time: the next one has the state waiting and starts when the first one ends', async () => {
    const { run, release } = await blockedRun()
    const waiting = await (await begin()).rows([{ external_key: 'W', name: 'w' }])
    expect((await waiting.post('check')).status).toBe(202)
    expect(await waiting.get()).toMatchObject({ state: 'waiting', done_rows: 0 })
    expect(await waiting.get(second.app)).toMatchObject({ state: 'waiting' })
    for (const path of ['check', 'rows', 'run'])
      expectApiError(await waiting.post(path, path === 'rows' ? { rows: [] } : { skip_errors: true }), 'conflict')
    await release()
    expect((await waiting.waitUntilIdle()).state).toBe('checked')
    expect((await run.get()).state).toBe('done')
  })

  it('wait for each other in every process', async () => {
    const { run, release } = await blockedRun()
    const waiting = await (await begin()).rows([{ external_key: 'W', name: 'w' }])
    expect((await waiting.post('check', undefined, second.app)).status).toBe(202)
    expect((await waiting.get(second.app)).state).toBe('waiting')
    await release()
    expect((await waiting.waitUntilIdle()).state).toBe('checked')
    expect((await run.get()).state).toBe('done')
  })

  it('keep the check or the run they wait for, in the order in which they were asked for', async () => {
    const ready = await (await begin()).rows([{ external_key: 'R', name: 'r' }, { external_key: 'NO' }])
    await ready.check()
    const { release } = await blockedRun()
    expect((await ready.post('run', { skip_errors: true })).status).toBe(202)
    const checks = [await begin(), await begin()]
    for (const one of checks) {
      clock.advance(1)
      expect((await one.post('check')).status).toBe(202)
    }
    await release()
    for (const one of checks) expect((await one.waitUntilIdle()).state).toBe('checked')
    expect(await ready.get()).toMatchObject({ state: 'done', creates: 1 })
  })

  it('never use the connections of requests, and never delay another organization', async () => {
    const { release } = await blockedRun()
    const own = create(org.full, 'assets', { name: 'made meanwhile' })
    const other = await context.app.newOrg()
    const theirs = await begin((await other.signIn('manager')).accessToken)
    expect((await theirs.check()).state).toBe('checked')
    expect((await own).name).toBe('made meanwhile')
    await release()
  })

  it('that wait can be deleted', async () => {
    const { release } = await blockedRun()
    const waiting = await begin()
    expect((await waiting.post('check')).status).toBe(202)
    expect((await drop(waiting)).status).toBe(204)
    await release()
  })

  it('that wait behind a dead process start at the next read', async () => {
    const [dead, waiting] = [await begin(), await begin()]
    await database.sql`update imports set state = 'running' where id = ${dead.id}`
    await database.sql`update imports set state = 'waiting', job = 'check' where id = ${waiting.id}`
    expect((await waiting.get()).state).toBe('waiting')
    clock.advance(6)
    expect((await waiting.waitUntilIdle()).state).toBe('checked')
    expect((await dead.get()).state).toBe('failed')
  })

  it('are 20 at most; a new import replaces an import that is finished or was unused for an hour', async () => {
    const done = await begin()
    await done.check()
    await done.run()
    for (let made = 1; made < 20; made++) await begin()
    const newest = await begin()
    expect((await drop(done)).status).toBe(404)
    const reply = await context.app.anonymous('POST', '/api/v1/imports', { token, json: { kind: 'assets' } })
    expectApiError(reply, 'conflict')
    expect(reply.json.error.detail).toBe('Quota imports reached: the organization may have at most 20 imports')
    expect((await drop(newest)).status).toBe(204)
    await begin()
    clock.advance(3601)
    token = (await org.signIn('manager')).accessToken
    await begin()
  })

  it('are deleted after a day in any state, also while waiting', async () => {
    const waiting = await begin()
    await database.sql`update imports set state = 'waiting', job = 'check' where id = ${waiting.id}`
    clock.advance(86_401)
    await keepRetention(context.app.context, context.app.databaseUrl)
    expect((await database.sql`select from imports where org_id = ${org.orgId}`).length).toBe(0)
  })
})

describe('A request of an import', () => {
  it('waits at most 3 seconds for another transaction of the organization, like every request', async () => {
    const lock = await database.sql.reserve()
    await lock`begin`
    await lock`select pg_advisory_xact_lock(${-org.orgId})`
    const startedMs = performance.now()
    const reply = await context.app.anonymous('POST', '/api/v1/imports', { token, json: { kind: 'assets' } })
    const tookMs = performance.now() - startedMs
    await lock`rollback`
    lock.release()
    expectApiError(reply, 'rate_limited')
    expect(tookMs).toBeLessThan(15_000)
    await begin()
  })
})
