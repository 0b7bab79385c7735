import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openAppContext } from '../../src/app/context.ts'
import { readConfig } from '../../src/config/config.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { runCommand } from '../support/command.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'
import { lastseen, usePrograms, withSql } from '../support/process.ts'
import { WebhookNetwork, urlOf } from '../support/webhooks.ts'

usePrograms()

const network = new WebhookNetwork()
let database: TestDatabase
let settings: Record<string, string>
let orgId: number

beforeAll(async () => {
  await network.prepare()
  database = await cloneDatabase()
  settings = { DATABASE_URL: database.url, LASTSEEN_LOG_LEVEL: 'silent', ...network.settings }
  const context = await openAppContext({ config: readConfig(settings), url: database.url })
  orgId = (await createOrganization(context, 'Northwind')).orgId
  await createOrganization(context, 'Bare')
  await context.close()
})
afterAll(async () => {
  await database.drop()
  await network.stop()
})

const webhook = (...args: string[]) => runCommand(['webhook', ...args, '--json'], settings)

async function facts(...args: string[]): Promise<Record<string, unknown>> {
  const ended = await webhook(...args)
  expect([ended.code, ended.stderr]).toEqual([0, ''])
  return JSON.parse(ended.stdout)
}

const rows = () =>
  withSql(database.url, async (sql) => [...(await sql`select url, is_enabled, generation from webhooks`)])

describe('lastseen webhook', () => {
  it('registers, shows, changes, tests and deletes an organization’s webhook', async () => {
    const receiver = await network.receiver()
    const url = urlOf(receiver)
    const args = ['webhook', 'create', '--org', 'Northwind', '--url', url, '--json']
    const made = JSON.parse((await lastseen(args, settings)).stdout)
    const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(made).toEqual({
      webhook_id: expect.any(Number),
      org_id: orgId,
      url,
      enabled: true,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{48}$/),
      created_at: instant,
      updated_at: instant,
    })
    const { secret, ...rest } = made
    const secret_masked = `whsec_••••••••${String(secret).slice(-4)}`
    expect(await facts('show', '--org', 'Northwind')).toEqual({ ...rest, secret_masked })
    expect(await facts('test', '--org', String(orgId))).toEqual({
      webhook_id: made['webhook_id'],
      org_id: orgId,
      status: 204,
      error: null,
      duration_ms: expect.any(Number),
    })
    expect(receiver.received).toHaveLength(1)

    expect(await facts('update', '--org', 'Northwind', '--disable')).toMatchObject({ enabled: false, secret_masked })
    expect(await rows()).toEqual([{ url, is_enabled: false, generation: null }])
    expect(await facts('update', '--org', 'Northwind', '--enable', '--url', `${url}/2`)).toMatchObject({
      enabled: true,
      url: `${url}/2`,
    })
    expect((await webhook('create', '--org', 'Northwind', '--url', url)).stderr).toBe(
      'The organization already has a webhook\n',
    )
    expect(await facts('delete', '--org', 'Northwind')).toEqual({
      webhook_id: made['webhook_id'],
      org_id: orgId,
      deleted: true,
    })
    expect(await rows()).toEqual([])
    expect(await facts('create', '--org', 'Northwind', '--url', url, '--disabled')).toMatchObject({ enabled: false })
    expect(await facts('delete', '--org', 'Northwind')).toMatchObject({ deleted: true })
  }, 120_000)

  it.each<[string, string, string[], string, (1 | 2)?]>([
    [
      'create',
      'plain http',
      ['--org', 'Bare', '--url', 'http://x.test/'],
      '--url must start with https:// and name a host',
      2,
    ],
    [
      'create',
      'no address',
      ['--org', 'Bare'],
      "error: required option '--url <address>' not specified (see --help)",
      2,
    ],
    [
      'create',
      'an unknown organization',
      ['--org', 'Nobody', '--url', 'https://x.test/'],
      'There is no organization called "Nobody"',
    ],
    ['show', 'an organization without one', ['--org', 'Bare'], 'Bare has no webhook'],
    ['update', 'an organization without one', ['--org', 'Bare', '--enable'], 'Bare has no webhook'],
    ['delete', 'an organization without one', ['--org', 'Bare'], 'Bare has no webhook'],
    ['test', 'an organization without one', ['--org', 'Bare'], 'Bare has no webhook'],
  ])('%s rejects %s in one line', async (command, _what, args, line, code = 1) => {
    const ended = await webhook(command, ...args)
    expect([ended.code, ended.stdout, ended.stderr.trimEnd()]).toEqual([code, '', line])
  })

  it('update rejects a call without a change and a call that both enables and disables', async () => {
    await facts('create', '--org', 'Bare', '--url', 'https://x.test/')
    const before = await rows()
    expect((await webhook('update', '--org', 'Bare')).stderr).toBe(
      'Specify at least one change: --url, --enable or --disable\n',
    )
    expect((await webhook('update', '--org', 'Bare', '--enable', '--disable')).stderr).toBe(
      '--enable and --disable are mutually exclusive\n',
    )
    expect((await webhook('update', '--org', 'Bare', '--url', 'ftp://x.test/')).code).toBe(2)
    expect(await rows()).toEqual(before)
  }, 60_000)
})
