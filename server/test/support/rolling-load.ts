import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { expect } from 'vitest'
import { LiveConsumer } from './live-consumer.ts'
import { type Pair, withSql } from './process.ts'
import { overMqtt } from './reader-fleet.ts'

const minuteMs = 60_000
const assetsPerReader = 2

interface LoadReader {
  id: number
  token: string
  topic: string
  tags: string[]
  /** The number of batches that were acknowledged; each is one minute later and at the other location. */
  batches: number
}

/** What `reader create --json` prints. */
interface MadeReader {
  reader_id: number
  token: string
  mqtt: { topic: string }
}

interface Reply {
  status: number
  body: string
}

export interface LoadOptions {
  keepsAlive: boolean
  httpReaders: number
  mqttReaders: number
  /** The embedded brokers of the processes, or an external one, which a message reaches before it is recorded. */
  mqttUrls: string[]
  isBrokerOutside?: boolean
}

/**
 * Clients that create and read assets, readers that send reads over HTTP and MQTT, each with one connection and one request
 * at a time, and a program that follows the live stream. A request that fails is recorded and, by a reader, sent again. A
 * message over MQTT that is not acknowledged is sent again over another connection, as readers do; that is no failure.
 * Everything is set up through the API and the commands of the running version.
 */
export class RollingLoad {
  readonly failures: string[] = []
  /** Messages over MQTT that were sent again. */
  resent = 0
  readonly #url: string
  readonly #options: LoadOptions
  readonly #mqtt: ReturnType<typeof overMqtt>
  readonly #tokens: string[] = []
  readonly #httpReaders: LoadReader[] = []
  readonly #mqttReaders: LoadReader[] = []
  #live: LiveConsumer | undefined
  readonly #created: string[] = []
  readonly #startMs = Math.floor(Date.now() / minuteMs) * minuteMs - 20_000 * minuteMs
  #reads = 0
  #isOver = false
  #running: Promise<unknown> = Promise.resolve()
  #turn = 0

  constructor(url: string, options: LoadOptions) {
    this.#url = url
    this.#options = options
    this.#mqtt = overMqtt(options.mqttUrls, { isOutside: options.isBrokerOutside ?? false })
  }

  get #readers(): LoadReader[] {
    return [...this.#httpReaders, ...this.#mqttReaders]
  }

  /** `run` runs an operator command and returns what it prints as JSON. */
  async prepare(run: (args: string[]) => Promise<unknown>): Promise<void> {
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
    const { httpReaders, mqttReaders } = this.#options
    for (let index = 0; index < httpReaders + mqttReaders; index++) {
      const antennas = ['--antenna', '1=NORTH', '--antenna', '2=SOUTH', '--clock', 'reader']
      const made = (await run(['reader', 'create', ...org, '--name', `Gate ${index}`, ...antennas])) as MadeReader
      const tags = Array.from({ length: assetsPerReader }, (_, at) => `E28011606000${index}${at}`.padEnd(24, '0'))
      for (const [at, value] of tags.entries()) {
        const asset = { name: 'Pallet', external_key: `P-${index}-${at}`, tags: [{ tag_type: 'rfid', value }] }
        await this.#created201(agent, '/api/v1/assets', asset)
      }
      const readers = index < httpReaders ? this.#httpReaders : this.#mqttReaders
      readers.push({ id: made.reader_id, token: made.token, topic: made.mqtt.topic, tags, batches: 0 })
    }
    await agent.close()
    const watch = ['key', 'create', ...org, '--name', 'watch', '--scopes', 'tracking:read']
    this.#live = new LiveConsumer(this.#url, (await run(watch)) as Pair)
  }

  async start(): Promise<void> {
    await this.#live!.start()
    this.#running = Promise.all([
      ...[1, 2, 3].map((client) => this.#loop((agent, count) => this.#create(agent, `C-${client}-${count}`))),
      ...[1, 2, 3].map(() => this.#loop((agent) => this.#read(agent))),
      ...this.#httpReaders.map((reader) => this.#loop((agent) => this.#sendBatch(agent, reader))),
      ...this.#mqttReaders.map((reader) => this.#loop(() => this.#publishBatch(reader))),
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
    await this.#mqtt.end()
  }

  /**
   * Every acknowledged creation and read is stored once, every move was recorded once, and the program that follows the
   * live stream received every move once.
   */
  async expectComplete(databaseUrl: string): Promise<void> {
    const expectedMinutes = this.#readers.reduce((sum, { batches }) => sum + batches * assetsPerReader, 0)
    const countMinutes = () => withSql(databaseUrl, (sql) => sql`select count(*)::int as count from asset_minutes`)
    // An external broker acknowledges a message before it is recorded.
    await expect.poll(countMinutes, { timeout: 20_000 }).toEqual([{ count: expectedMinutes }])
    const stored = await withSql(databaseUrl, async (sql) => ({
      created: await sql`select external_key as key from assets where external_key like 'C-%'`,
      minutes: await sql`select a.external_key as key, count(*)::int as minutes from asset_minutes m
        join assets a on a.org_id = m.org_id and a.id = m.asset_id group by 1`,
      moves: await sql`select delivery_id, asset_external_key as key, occurred_at,
          from_location_name as "from", to_location_name as "to"
        from moves order by 2, occurred_at, recorded_at`,
    }))
    await this.#live!.expectComplete(stored.moves.map((row) => row['delivery_id'] as string))
    expect(stored.created.map((row) => row['key'] as string).sort()).toEqual(this.#created.toSorted())
    const minutes = Object.fromEntries(stored.minutes.map((row) => [row['key'], row['minutes']]))
    for (const [index, { batches }] of this.#readers.entries())
      for (let at = 0; at < assetsPerReader; at++) {
        const key = `P-${index}-${at}`
        expect(minutes[key], key).toBe(batches)
        const rows = stored.moves.filter((row) => row['key'] === key)
        expect(new Set(rows.map((row) => (row['occurred_at'] as Date).toISOString())).size, key).toBe(rows.length)
        const moves = rows.map((row) => `${row['from']} ${row['to']}`)
        if (this.#options.isBrokerOutside && index >= this.#httpReaders.length) {
          // Two processes may record messages in another order than they were sent; then an older one is no move.
          expect(moves.filter((move) => /^(\w+) \1$/.test(move))).toEqual([])
          continue
        }
        const expected = Array.from({ length: batches }, (_, batch) =>
          batch === 0 ? 'null NORTH' : batch % 2 === 1 ? 'NORTH SOUTH' : 'SOUTH NORTH',
        )
        expect(moves, key).toEqual(expected)
      }
  }

  async #loop(once: (agent: Agent, count: number) => Promise<void>): Promise<void> {
    const agent = new Agent({ connections: 1, pipelining: this.#options.keepsAlive ? 1 : 0 })
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

  /** The reads of the reader's next minute. */
  #nextBatch(reader: LoadReader): { reads: object[] } {
    const observedAt = new Date(this.#startMs + reader.batches * minuteMs).toISOString()
    const antenna = (reader.batches % 2) + 1
    return { reads: reader.tags.map((tag) => ({ tag, antenna, observed_at: observedAt })) }
  }

  async #sendBatch(agent: Agent, reader: LoadReader): Promise<void> {
    const batch = this.#nextBatch(reader)
    if (await this.#succeeds(agent, 202, 'POST', '/ingest/v1/reads', reader.token, batch)) reader.batches++
  }

  async #publishBatch(reader: LoadReader): Promise<void> {
    // An external broker acknowledges at once, so the readers are throttled to what live streams carry without a gap.
    if (this.#options.isBrokerOutside) await sleep(100)
    if (await this.#mqtt(reader, JSON.stringify(this.#nextBatch(reader)))) reader.batches++
    else this.resent++
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
