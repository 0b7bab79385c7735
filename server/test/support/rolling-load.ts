import { setTimeout as sleep } from 'node:timers/promises'
import postgres, { type Sql } from 'postgres'
import { Agent, request } from 'undici'
import { expect } from 'vitest'
import { LiveConsumer } from './live-consumer.ts'
import type { Pair } from './process.ts'
import { overMqtt } from './reader-fleet.ts'
import { storedRecords } from './stored-records.ts'
import type { WebhookConsumer } from './webhook-consumer.ts'

const organization = 'My organization'
const minuteMs = 60_000
const assetsPerReader = 2
const storedWithinMs = 20_000
const locations = ['NORTH', 'SOUTH']
/** The batches of a reader come from both locations in turn, so each one is a move. */
const locationOf = (batch: number): string => locations[batch % locations.length]!
const assetKey = (reader: number, at: number): string => `P-${reader}-${at}`

interface LoadReader {
  id: number
  token: string
  topic: string
  tags: string[]
  /** The number of batches that were acknowledged; each is one minute later and at the other location. */
  batches: number
  /** Publishes to an external broker, which acknowledges messages before they are recorded, without waiting for that. */
  isAhead: boolean
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
  databaseUrl: string
  /** Receives the moves; the processes have its settings. */
  webhook: WebhookConsumer
}

/**
 * Clients that create and read assets, readers that send reads over HTTP and MQTT, each with one connection and one request
 * at a time, and a program that follows the live stream. A request that fails is recorded and, by a reader, sent again. A
 * message over MQTT that is not acknowledged is sent again over another connection, as readers do; that is no failure. With
 * an external broker, the first of the readers over MQTT sends on at once, so that messages wait in the broker; the others
 * wait until a message is recorded, so that the processes cannot record messages in another order than they were sent.
 * Everything is set up through the API and the commands of the running version.
 */
export class RollingLoad {
  readonly failures: string[] = []
  /** Messages over MQTT that were sent again. */
  resent = 0
  readonly #url: string
  readonly #options: LoadOptions
  readonly #mqtt: ReturnType<typeof overMqtt>
  readonly #sql: Sql
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
    this.#sql = postgres(options.databaseUrl, { max: 1, connection: { application_name: 'test' } })
  }

  get #readers(): LoadReader[] {
    return [...this.#httpReaders, ...this.#mqttReaders]
  }

  /** `run` runs an operator command and returns what it prints as JSON. */
  async prepare(run: (args: string[]) => Promise<unknown>): Promise<void> {
    const org = ['--org', organization]
    const scopes = 'assets:read,assets:write,locations:read,locations:write,tracking:read'
    const keys = (await run(['key', 'create', ...org, '--name', 'load', '--scopes', scopes, '--count', '60'])) as Pair[]
    const agent = new Agent({ connections: 4 })
    for (const { client_id, client_secret } of keys) {
      const grant = { grant_type: 'client_credentials', client_id, client_secret }
      const { body } = await this.#send(agent, 'POST', '/api/v1/oauth/token', null, grant)
      this.#tokens.push((JSON.parse(body) as { access_token: string }).access_token)
    }
    for (const key of locations) await this.#created201(agent, '/api/v1/locations', { name: key, external_key: key })
    const { httpReaders, mqttReaders, isBrokerOutside = false } = this.#options
    for (let index = 0; index < httpReaders + mqttReaders; index++) {
      const antennas = ['--antenna', '1=NORTH', '--antenna', '2=SOUTH', '--clock', 'reader']
      const made = (await run(['reader', 'create', ...org, '--name', `Gate ${index}`, ...antennas])) as MadeReader
      const tags = Array.from({ length: assetsPerReader }, (_, at) => `E28011606000${index}${at}`.padEnd(24, '0'))
      for (const [at, value] of tags.entries()) {
        const asset = { name: 'Pallet', external_key: assetKey(index, at), tags: [{ tag_type: 'rfid', value }] }
        await this.#created201(agent, '/api/v1/assets', asset)
      }
      const readers = index < httpReaders ? this.#httpReaders : this.#mqttReaders
      const isAhead = isBrokerOutside && index === httpReaders
      readers.push({ id: made.reader_id, token: made.token, topic: made.mqtt.topic, tags, batches: 0, isAhead })
    }
    await agent.close()
    const watch = ['key', 'create', ...org, '--name', 'watch', '--scopes', 'tracking:read']
    this.#live = new LiveConsumer(this.#url, (await run(watch)) as Pair)
    await this.#options.webhook.register(run, organization)
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

  close(): Promise<void> {
    return this.#sql.end({ timeout: 5 })
  }

  /**
   * Every acknowledged creation and read is stored once, every read is one move, the program that follows the live stream
   * received every move once and in order, and the webhook accepted every move once.
   */
  async expectComplete(): Promise<void> {
    const ahead = this.#readers.findIndex(({ isAhead }) => isAhead)
    const expectedReads = this.#readers.reduce((sum, { batches }) => sum + batches * assetsPerReader, 0)
    const countReads = () => this.#sql`select count(*)::int as count from asset_minutes`
    await expect.poll(countReads, { timeout: storedWithinMs }).toEqual([{ count: expectedReads }])
    const { created, reads, moves } = await storedRecords(this.#sql)
    expect(created).toEqual(this.#created.toSorted())
    const keysAhead: string[] = []
    for (const [index, { batches }] of this.#readers.entries())
      for (let at = 0; at < assetsPerReader; at++) {
        const key = assetKey(index, at)
        const sent = Array.from({ length: batches }, (_, batch) => `${this.#timeOf(batch)} ${locationOf(batch)}`)
        expect(reads.get(key), key).toEqual(sent)
        const ofAsset = moves.filter(({ data }) => data.asset.external_key === key)
        if (index === ahead) {
          // Two processes may record messages in another order than they were sent; then an older one is no move.
          keysAhead.push(key)
          ofAsset.sort((one, other) => (one.occurred_at < other.occurred_at ? -1 : 1))
        }
        const arrivals = ofAsset.map(({ occurred_at, data }) => `${occurred_at} ${data.to_location.name}`)
        expect(arrivals, key).toEqual(index === ahead ? sent.filter((read) => arrivals.includes(read)) : sent)
        const origins = ofAsset.map(({ data }) => data.from_location?.name)
        expect(origins, key).toEqual([undefined, ...ofAsset.map(({ data }) => data.to_location.name).slice(0, -1)])
      }
    await this.#live!.expectComplete(moves, { unordered: keysAhead })
    await this.#options.webhook.expectComplete(moves)
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
  #nextBatch({ batches, tags }: LoadReader): { reads: object[] } {
    const antenna = locations.indexOf(locationOf(batches)) + 1
    return { reads: tags.map((tag) => ({ tag, antenna, observed_at: this.#timeOf(batches) })) }
  }

  #timeOf(batch: number): string {
    return new Date(this.#startMs + batch * minuteMs).toISOString()
  }

  async #sendBatch(agent: Agent, reader: LoadReader): Promise<void> {
    const batch = this.#nextBatch(reader)
    if (await this.#succeeds(agent, 202, 'POST', '/ingest/v1/reads', reader.token, batch)) reader.batches++
  }

  async #publishBatch(reader: LoadReader): Promise<void> {
    // An external broker acknowledges at once, so the reader is throttled to what live streams carry without a gap.
    if (reader.isAhead) await sleep(100)
    if (!(await this.#mqtt(reader, JSON.stringify(this.#nextBatch(reader))))) {
      this.resent++
      return
    }
    if (this.#options.isBrokerOutside && !reader.isAhead) await this.#untilRecorded(reader)
    reader.batches++
  }

  async #untilRecorded({ id, batches }: LoadReader): Promise<void> {
    const key = assetKey(
      this.#readers.findIndex((reader) => reader.id === id),
      0,
    )
    const at = this.#timeOf(batches)
    for (const end = Date.now() + storedWithinMs; Date.now() < end; await sleep(20))
      if (
        (
          await this.#sql`select from asset_minutes m join assets a on a.org_id = m.org_id and a.id = m.asset_id
        where a.external_key = ${key} and m.minute = ${at}`
        ).length > 0
      )
        return
    this.failures.push(`${new Date().toISOString()} the read of ${key} at ${at} was not recorded`)
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
