import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { expect } from 'vitest'
import { type Pair, withSql } from './process.ts'

const minuteMs = 60_000
const assetsPerReader = 2

interface LoadReader {
  token: string
  tags: string[]
  /** The number of batches that were acknowledged; each is one minute later and at the other location. */
  batches: number
}

interface Reply {
  status: number
  body: string
}

/**
 * Clients that create and read assets, and readers that send reads, each with one connection and one request at a time. A
 * request that fails is recorded and, by a reader, sent again. Everything is set up through the API and the commands of the
 * running version.
 */
export class RollingLoad {
  readonly failures: string[] = []
  readonly #url: string
  readonly #keepsAlive: boolean
  readonly #tokens: string[] = []
  readonly #readers: LoadReader[] = []
  readonly #created: string[] = []
  readonly #startMs = Math.floor(Date.now() / minuteMs) * minuteMs - 20_000 * minuteMs
  #reads = 0
  #isOver = false
  #running: Promise<unknown> = Promise.resolve()
  #turn = 0

  constructor(url: string, { keepsAlive }: { keepsAlive: boolean }) {
    this.#url = url
    this.#keepsAlive = keepsAlive
  }

  /** `run` runs an operator command and returns what it prints as JSON. */
  async prepare(run: (args: string[]) => Promise<unknown>, readerCount: number): Promise<void> {
    const org = ['--org', 'My organization']
    const scopes = 'assets:read,assets:write,locations:read,locations:write,tracking:read'
    const keys = (await run(['key', 'create', ...org, '--name', 'load', '--scopes', scopes, '--count', '60'])) as Pair[]
    const agent = new Agent({ connections: 4 })
    for (const { client_id, client_secret } of keys) {
      const grant = { grant_type: 'client_credentials', client_id, client_secret }
      const { body } = await this.#send(agent, 'POST', '/api/v1/oauth/token', null, grant)
      this.#tokens.push((JSON.parse(body) as { access_token: string }).access_token)
    }
    for (const key of ['NORTH', 'SOUTH'])
      await this.#created201(agent, '/api/v1/locations', { name: key, external_key: key })
    for (let index = 0; index < readerCount; index++) {
      const antennas = ['--antenna', '1=NORTH', '--antenna', '2=SOUTH', '--clock', 'reader']
      const made = (await run(['reader', 'create', ...org, '--name', `Gate ${index}`, ...antennas])) as {
        token: string
      }
      const tags = Array.from({ length: assetsPerReader }, (_, at) => `E28011606000${index}${at}`.padEnd(24, '0'))
      for (const [at, value] of tags.entries()) {
        const asset = { name: 'Pallet', external_key: `P-${index}-${at}`, tags: [{ tag_type: 'rfid', value }] }
        await this.#created201(agent, '/api/v1/assets', asset)
      }
      this.#readers.push({ token: made.token, tags, batches: 0 })
    }
    await agent.close()
  }

  start(): void {
    this.#running = Promise.all([
      ...[1, 2, 3].map((client) => this.#loop((agent, count) => this.#create(agent, `C-${client}-${count}`))),
      ...[1, 2, 3].map(() => this.#loop((agent) => this.#read(agent))),
      ...this.#readers.map((reader) => this.#loop((agent) => this.#sendBatch(agent, reader))),
    ])
  }

  get requests(): number {
    return this.#created.length + this.#reads + this.#readers.reduce((sum, { batches }) => sum + batches, 0)
  }

  /** Waits until so many further requests have succeeded. */
  async waitFor(count: number): Promise<void> {
    const end = this.requests + count
    while (this.requests < end && this.failures.length < 50) await sleep(20)
  }

  async finish(): Promise<void> {
    this.#isOver = true
    await this.#running
  }

  /** Every acknowledged creation and read is stored once, and every move was recorded once. */
  async expectComplete(databaseUrl: string): Promise<void> {
    const stored = await withSql(databaseUrl, async (sql) => ({
      created: await sql`select external_key as key from assets where external_key like 'C-%'`,
      minutes: await sql`select a.external_key as key, count(*)::int as minutes from asset_minutes m
        join assets a on a.org_id = m.org_id and a.id = m.asset_id group by 1`,
      moves:
        await sql`select asset_external_key as key, from_location_name as "from", to_location_name as "to" from moves
        order by 1, occurred_at, recorded_at`,
    }))
    expect(stored.created.map((row) => row['key'] as string).sort()).toEqual(this.#created.toSorted())
    const minutes = Object.fromEntries(stored.minutes.map((row) => [row['key'], row['minutes']]))
    for (const [index, { batches }] of this.#readers.entries())
      for (let at = 0; at < assetsPerReader; at++) {
        const key = `P-${index}-${at}`
        expect(minutes[key], key).toBe(batches)
        const moves = stored.moves.filter((row) => row['key'] === key).map((row) => `${row['from']} ${row['to']}`)
        const expected = Array.from({ length: batches }, (_, batch) =>
          batch === 0 ? 'null NORTH' : batch % 2 === 1 ? 'NORTH SOUTH' : 'SOUTH NORTH',
        )
        expect(moves, key).toEqual(expected)
      }
  }

  async #loop(once: (agent: Agent, count: number) => Promise<void>): Promise<void> {
    const agent = new Agent({ connections: 1, pipelining: this.#keepsAlive ? 1 : 0 })
    for (let count = 0; !this.#isOver; count++) {
      await once(agent, count)
      await sleep(10)
    }
    await agent.close()
  }

  async #create(agent: Agent, key: string): Promise<void> {
    const json = { name: 'Crate', external_key: key }
    if (await this.#succeeds(agent, 201, 'POST', '/api/v1/assets', this.#nextToken(), json)) this.#created.push(key)
  }

  async #read(agent: Agent): Promise<void> {
    if (await this.#succeeds(agent, 200, 'GET', '/api/v1/assets?limit=5', this.#nextToken())) this.#reads++
  }

  async #sendBatch(agent: Agent, reader: LoadReader): Promise<void> {
    const observedAt = new Date(this.#startMs + reader.batches * minuteMs).toISOString()
    const antenna = (reader.batches % 2) + 1
    const reads = reader.tags.map((tag) => ({ tag, antenna, observed_at: observedAt }))
    if (await this.#succeeds(agent, 202, 'POST', '/ingest/v1/reads', reader.token, { reads })) reader.batches++
  }

  async #succeeds(agent: Agent, status: number, method: string, path: string, token: string, json?: object) {
    let reason: string
    try {
      const reply = await this.#send(agent, method, path, token, json)
      if (reply.status === status) return true
      reason = `${reply.status} ${reply.body.slice(0, 200)}`
    } catch (error) {
      reason = (error as Error).message
    }
    this.failures.push(`${new Date().toISOString()} ${method} ${path}: ${reason}`)
    return false
  }

  async #created201(agent: Agent, path: string, json: object): Promise<void> {
    expect((await this.#send(agent, 'POST', path, this.#nextToken(), json)).status).toBe(201)
  }

  async #send(agent: Agent, method: string, path: string, token: string | null, json?: object): Promise<Reply> {
    const { statusCode, body } = await request(this.#url + path, {
      method: method as 'GET',
      dispatcher: agent,
      headers: {
        'user-agent': 'rolling-load',
        'content-type': 'application/json',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    })
    return { status: statusCode, body: await body.text() }
  }

  #nextToken(): string {
    return this.#tokens[this.#turn++ % this.#tokens.length]!
  }
}
