import { createHmac } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { acquireEmbedded } from '../../src/embedded-postgres/acquire.ts'
import { superuserOf } from '../support/cluster.ts'
import { allRows, ownedDatabase } from '../support/backup.ts'
import {
  type ExitResult,
  type ReadyServer,
  firstCredentials,
  lastseen,
  newFolder,
  serve,
  tokenFor,
  usePrograms,
  withSql,
} from '../support/process.ts'
import { eventually } from '../support/tracking.ts'
import { WebhookNetwork, urlOf } from '../support/webhooks.ts'

usePrograms()

const network = new WebhookNetwork()
const folder = newFolder()
const home = join(folder, 'source')
const duringWrites = join(folder, 'during.backup')
const atRest = join(folder, 'rest.backup')
/** Text with characters that are special in COPY, JSON or SQL. */
const awkward = 'tab\t, line\nand \\back\\slash, \\N, \\., "quoted" \'single\' {}[] – ünïcode 🏭'

interface Installation {
  credential: ReturnType<typeof firstCredentials>
  token: string
  refreshToken: string
  readerToken: string
  tag: string
  webhookSecret: string
}

const json = (ended: ExitResult) => {
  expect([ended.code, ended.stderr]).toEqual([0, ''])
  return JSON.parse(ended.stdout) as Record<string, never>
}

/** All responses that an API client can get. */
async function answers(server: ReadyServer, token: string): Promise<Record<string, unknown>> {
  const get = async (path: string) => (await server.send('GET', `/api/v1${path}`, { token })).json
  const assets = await get('/assets?limit=200&include_deleted=true')
  return {
    assets,
    locations: await get('/locations?limit=200'),
    report: await get('/reports/asset-locations?limit=200'),
    history: await get(`/assets/${assets.data[0].id}/history?limit=200`),
    organization: await get('/orgs/me'),
  }
}

describe('lastseen backup and restore', { timeout: 120_000 }, () => {
  let source: Installation
  let seen: Record<string, unknown>
  const created: string[] = []
  let settings: Record<string, string>

  /** A small site with every kind of record, and a client that keeps writing while the backup is taken. */
  beforeAll(async () => {
    await network.prepare()
    const receiver = await network.receiver()
    settings = { LASTSEEN_DATA_DIR: home, LASTSEEN_LOG_LEVEL: 'silent', ...network.settings }
    const server = await serve(settings)
    const credential = firstCredentials(server.program.stderr)
    const post = async (path: string, token: string, body: unknown) => {
      const reply = await server.send('POST', path, { token, json: body })
      expect(reply.status, reply.text).toBeLessThan(300)
      return reply.json
    }
    const tokens = await post('/api/v1/oauth/token', '', {
      ...{ grant_type: 'client_credentials', client_id: credential.client_id, client_secret: credential.client_secret },
    })
    const token = tokens.access_token as string
    for (const [key, parent] of [['HALL'], ['SHELF', 'HALL']])
      await post('/api/v1/locations', token, { external_key: key, name: key, parent_external_key: parent ?? null })
    const tag = 'E28011700000020F1A2B3C4D'
    await post('/api/v1/assets', token, {
      ...{
        external_key: 'A-0',
        name: 'Pallet',
        description: awkward,
        metadata: { note: awkward.replace(/[\t\n]/g, ''), n: 1.5 },
      },
      tags: [{ tag_type: 'rfid', value: tag }],
    })
    const { email, password } = credential
    const session = (await post('/api/v1/auth/login', '', { email, password })).data.access_token as string
    const locations = (await server.send('GET', '/api/v1/locations', { token })).json.data as { id: number }[]
    const scan_points = locations.map(({ id }, index) => ({ antenna: index + 1, location_id: id }))
    const reader = (await post('/api/v1/readers', session, { name: 'Gate', scan_points })).data
    const webhook = (await post('/api/v1/webhooks', session, { url: urlOf(receiver) })).data
    // Minutes of this month and of the one before last, so of two partitions.
    const reads = [60, 0, 1].map((daysAgo, index) => {
      const observed_at = new Date(Date.now() - daysAgo * 86_400_000 - 120_000).toISOString()
      return { tag, antenna: 1 + (index % 2), observed_at }
    })
    await post('/ingest/v1/reads', reader.token, { reads })

    const stop = new AbortController()
    const writing = (async () => {
      // Few enough writes for one credential, spread over the time that a backup takes.
      for (let number = 1; number <= 90 && !stop.signal.aborted; number++) {
        const tags = [{ tag_type: 'barcode', value: `W-${number}` }]
        await post('/api/v1/assets', token, { external_key: `W-${number}`, name: 'Written meanwhile', tags })
        created.push(`W-${number}`)
      }
    })()
    await eventually(async () => expect(created.length).toBeGreaterThan(3))
    const made = json(await lastseen(['backup', duringWrites, '--json'], settings))
    expect(made).toEqual({
      ...{ file: duringWrites, taken_at: expect.stringMatching(/Z$/), tables: expect.any(Number) },
      rows: expect.any(Number),
    })
    stop.abort()
    await writing
    await eventually(async () => expect(receiver.received.length).toBeGreaterThan(0))
    source = {
      ...{ credential, token, tag, refreshToken: tokens.refresh_token },
      ...{ readerToken: reader.token, webhookSecret: webhook.secret },
    }
    seen = await answers(server, await tokenFor(server.url, credential))
    expect((await server.program.stop()).code).toBe(0)
    const quiet = await lastseen(['backup', atRest], settings)
    expect(quiet.stderr).toMatch(/^asset_minutes: 3 rows$/m)
    expect(quiet.stderr).toMatch(/contains every secret of the installation, including its keys/)
    expect(quiet.code).toBe(0)
  }, 120_000)

  afterAll(() => network.stop())

  it('takes a consistent snapshot while the service writes, and restores it as an owner who is not a superuser', async () => {
    const target = await ownedDatabase()
    try {
      json(await lastseen(['restore', duringWrites, '--json'], { DATABASE_URL: target.url }))
      await withSql(target.superUrl, async (sql) => {
        const written = await sql<{ key: string; tags: number }[]>`
          select external_key as key, (select count(*)::int from tags t where t.org_id = a.org_id and t.asset_id = a.id)
            as tags from assets a where external_key like 'W-%' order by created_at`
        expect(written.length).toBeGreaterThan(3)
        // The restored records are a prefix of the written ones, without gaps and without partial records.
        expect(written.map((row) => row.key)).toEqual(created.slice(0, written.length))
        expect(new Set(written.map((row) => row.tags))).toEqual(new Set([1]))
        const [count] = await sql`select sum(active)::int as counted from record_counts where kind = 'asset'`
        expect(count!['counted']).toBe(written.length + 1)
        const unforced = await sql`select from pg_class where relrowsecurity and not relforcerowsecurity`
        expect(unforced).toHaveLength(0)
      })
      // An owner without special rights can also back up the restored database.
      const again = join(folder, 'again.backup')
      json(await lastseen(['backup', again, '--json'], { DATABASE_URL: target.url }))
      const body = (path: string) => {
        const text = gunzipSync(readFileSync(path)).toString()
        return text.slice(text.indexOf('\n'))
      }
      expect(body(again)).toBe(body(duringWrites))
    } finally {
      await target.drop()
    }
  })

  it('restores every row of every table, and all secrets of the installation still work', async () => {
    const dataDir = join(folder, 'target')
    const restored = await lastseen(['restore', atRest], { LASTSEEN_DATA_DIR: dataDir })
    expect([restored.code, restored.stderr]).toEqual([0, expect.stringMatching(/^asset_minutes: 3 rows$/m)])
    const [before, after] = [home, dataDir].map(async (dir) => {
      const database = await acquireEmbedded({ dataDir: dir, progress: () => undefined })
      return allRows(superuserOf(database.url, dir!)).finally(() => database.release())
    })
    expect(await after).toEqual(await before)
    expect(JSON.stringify((await after)!['assets'])).toContain('🏭')

    const server = await serve({ ...settings, LASTSEEN_DATA_DIR: dataDir })
    expect(server.program.stderr).not.toContain('First start')
    // A token of the old installation, a refresh token, the credential, the admin's password, the reader's token.
    expect(await answers(server, await tokenFor(server.url, source.credential))).toEqual(seen)
    expect((await server.send('GET', '/api/v1/orgs/me', { token: source.token })).status).toBe(200)
    const refresh = { grant_type: 'refresh_token', refresh_token: source.refreshToken }
    expect((await server.send('POST', '/api/v1/oauth/token', { json: refresh })).status).toBe(200)
    const { email, password } = source.credential
    expect((await server.send('POST', '/api/v1/auth/login', { json: { email, password } })).status).toBe(200)
    const receiver = network.receivers[0]!
    const output = receiver.received.length
    const reads = [{ tag: source.tag, antenna: 1, observed_at: new Date().toISOString() }]
    const read = await server.send('POST', '/ingest/v1/reads', { token: source.readerToken, json: { reads } })
    expect(read.json).toEqual({ data: { accepted: 1, ignored: 0 } })
    // The webhook is signed with its original secret.
    await eventually(async () => expect(receiver.received.length).toBeGreaterThan(output))
    const { headers, body } = receiver.received.at(-1)!
    const signed = `${headers['x-service-timestamp']}.${body.toString()}`
    const hmac = createHmac('sha256', source.webhookSecret).update(signed).digest('hex')
    expect(headers['x-service-signature']).toBe(`sha256=${hmac}`)
    expect((await server.program.stop()).code).toBe(0)
  })

  it('creates a file that only its owner can read, and never overwrites a file', async () => {
    expect(statSync(atRest).mode & 0o777).toBe(0o600)
    const before = readFileSync(atRest)
    const again = await lastseen(['backup', atRest], settings)
    expect([again.code, again.stderr]).toEqual([1, `${atRest} already exists; a backup never overwrites a file\n`])
    expect(readFileSync(atRest).equals(before)).toBe(true)
    expect(existsSync(`${atRest}.unfinished`)).toBe(false)
  })
})
