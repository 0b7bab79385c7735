import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openAppContext } from '../../src/app/context.ts'
import { readConfig } from '../../src/config/config.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { messages } from '../../src/simulator/messages.ts'
import { send } from '../support/client.ts'
import { runCommand } from '../support/command.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'
import { type ReadyServer, lastseen, serve, usePrograms, withSql } from '../support/process.ts'

usePrograms()

let database: TestDatabase
let settings: Record<string, string>

beforeAll(async () => {
  database = await cloneDatabase()
  settings = { DATABASE_URL: database.url, LASTSEEN_LOG_LEVEL: 'silent' }
})
afterAll(() => database.drop())

async function newOrg(org: string): Promise<string> {
  const context = await openAppContext({ config: readConfig(settings), url: database.url })
  await createOrganization(context, org)
  await context.close()
  return org
}

describe('lastseen simulate', () => {
  let server: ReadyServer
  beforeAll(async () => {
    await newOrg('Northwind')
    server = await serve({ ...settings, LASTSEEN_MQTT_PORT: '0' })
  })
  afterAll(async () => {
    await server.program.stop()
  })

  const play = (run: typeof lastseen, org: string, ...more: string[]) =>
    run(
      [
        'simulate',
        '--org',
        org,
        '--url',
        server.url,
        '--seconds',
        '3',
        '--days',
        '1',
        '--assets',
        '20',
        '--json',
        ...more,
      ],
      settings,
    )

  /** Sums over the readers of the organization; the server stores them every few seconds. */
  const activity = (org: string) =>
    withSql(database.url, async (sql) => {
      const [found] = await sql`select org_id from organization_names where name = ${org}`
      const orgId = found!['org_id'] as string
      const [row] = await sql`
        select sum(r.reads)::int as reads, sum(r.ignored)::int as ignored, min(r.format) as format,
          (select count(distinct m.asset_id)::int from asset_minutes m where m.org_id = ${orgId}) as assets,
          (select count(*)::int from moves m where m.org_id = ${orgId}) as moves
        from readers r where r.org_id = ${orgId}`
      return row!
    })

  it.concurrent.for(Object.keys(messages))(
    'plays a warehouse whose readers send %s, and every read is accepted',
    { timeout: 60_000 },
    async (format, { expect }) => {
      const org = await newOrg(`Simulated ${format}`)
      const ended = await play(lastseen, org, '--format', format)
      expect([ended.code, ended.stderr]).toEqual([0, ''])
      const { reads } = JSON.parse(ended.stdout) as { reads: number }
      expect(reads).toBeGreaterThan(40)
      // The server may have accepted the last message although the simulator ended before the response.
      const stored = async () => ((await activity(org))['reads'] < reads ? 'not stored' : 'stored')
      await expect.poll(stored, { timeout: 10_000 }).toBe('stored')
      const played = await activity(org)
      expect(played).toMatchObject({ ignored: 0, format, assets: 20 })
      expect(played['reads']).toBeLessThanOrEqual(reads + 5)
      expect((await activity(org))['moves']).toBeGreaterThan(20)
    },
  )

  it.each<[string, string[], string | RegExp, (1 | 2)?]>([
    [
      'an unknown format',
      ['--format', 'morse'],
      `error: option '--format <format>' argument 'morse' is invalid. Allowed choices are ${Object.keys(messages).join(', ')}. (see --help)`,
      2,
    ],
    ['an unknown organization', ['--org', 'Nobody'], 'There is no organization called "Nobody"'],
    ['a server that is not there', ['--url', 'http://127.0.0.1:9'], /fetch failed/],
    [
      'no assets',
      ['--assets', '0'],
      /^error: option '--assets <count>' argument '0' is invalid. It must be a whole number from 1 to 100000/,
      2,
    ],
  ])('refuses %s', async (_what, args, line, code = 1) => {
    const ended = await play(runCommand, 'Northwind', ...args)
    expect([ended.code, ended.stdout]).toEqual([code, ''])
    if (typeof line === 'string') expect(ended.stderr.trimEnd()).toBe(line)
    else expect(ended.stderr.trimEnd()).toMatch(line)
  })

  it('played again with the same seed goes on with the same things', async () => {
    const org = await newOrg('Played twice')
    expect((await play(lastseen, org)).code).toBe(0)
    expect((await play(lastseen, org)).code).toBe(0)
    expect((await activity(org))['assets']).toBe(20)
    const reply = await send(server.url, 'GET', '/readyz')
    expect(reply.status).toBe(200)
  }, 60_000)
})
