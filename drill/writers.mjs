/**
 * Clients that write until `stop` is called. Like real clients, they retry writes that were not acknowledged. They record
 * the acknowledged writes, which `compare` compares with the stored rows.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import mqtt from 'mqtt'
import { runCommand } from '../bench/environment.mjs'

const timeoutMs = 10_000
const stopLimitMs = 30_000
const retryPauseMs = 20
const minuteMs = 60_000
/** Simulated time starts this many minutes in the past, less than the retention period. A message takes one of them. */
export const simulatedMinutes = 100_000
const scopes = 'assets:read,assets:write,tracking:read'
const antennas = 4
const assetsPerReader = 5

const base = (service) => `http://127.0.0.1:${service.httpPort}`

async function post(service, path, token, body) {
  const response = await fetch(`${base(service)}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  })
  return { status: response.status, body: await response.json().catch(() => null) }
}

const ignore = () => null

/** Creates assets and rotates over many credentials because of the rate limit. */
class AssetCreator {
  acknowledged = []
  #service
  #name
  #credentials
  #pauseMs
  #used = 0

  constructor(service, { name, credentials, pauseMs }) {
    this.#service = service
    this.#name = name
    this.#credentials = credentials
    this.#pauseMs = pauseMs
  }

  get count() {
    return this.acknowledged.length
  }

  async run(signal) {
    for (let number = 1; !signal.aborted; number++) {
      await this.#create(`${this.#name}-${number}`)
      await sleep(this.#pauseMs)
    }
  }

  async #create(key) {
    for (;;) {
      const credential = this.#credentials[this.#used++ % this.#credentials.length]
      const token = (credential.token ??= await this.#exchange(credential))
      const reply =
        token && (await post(this.#service, '/api/v1/assets', token, { external_key: key, name: key }).catch(ignore))
      // A conflict means that an earlier attempt was stored although its response was lost.
      if (reply?.status === 201 || reply?.status === 409) return this.acknowledged.push(key)
      if (reply?.status === 401) credential.token = undefined
      await sleep(retryPauseMs)
    }
  }

  async #exchange({ client_id, client_secret }) {
    const body = { grant_type: 'client_credentials', client_id, client_secret }
    const reply = await post(this.#service, '/api/v1/oauth/token', null, body).catch(ignore)
    return reply?.body?.access_token
  }
}

/** Sends one message per minute of simulated time, with one read of every asset at the next antenna. */
class Reader {
  acknowledged = 0
  #service
  #reader
  #send
  #tags
  #pauseMs
  #startMs = (Math.floor(Date.now() / minuteMs) - simulatedMinutes) * minuteMs

  constructor(service, { reader, tags, send, pauseMs }) {
    this.#service = service
    this.#reader = reader
    this.#tags = tags
    this.#send = send
    this.#pauseMs = pauseMs
  }

  get count() {
    return this.acknowledged
  }

  get expectedMinutes() {
    return this.acknowledged * this.#tags.length
  }

  get tags() {
    return this.#tags
  }

  async run(signal) {
    while (!signal.aborted) {
      const observed_at = new Date(this.#startMs + this.acknowledged * minuteMs).toISOString()
      const antenna = 1 + (this.acknowledged % antennas)
      const body = { reads: this.#tags.map((tag) => ({ tag, antenna, observed_at })) }
      while (!(await this.#send(this.#service, this.#reader, body).catch(ignore))) await sleep(retryPauseMs)
      this.acknowledged++
      // Simulated time runs faster than real time, but must not reach the present.
      await sleep(this.#pauseMs)
    }
  }
}

const overHttp = async (service, { token }, body) => (await post(service, '/ingest/v1/reads', token, body)).status < 300

/** The client reconnects by itself; without an error listener a lost connection would end the process. */
const openClient = (url, options) => mqtt.connect(url, options).on('error', ignore)

/** Publishes with QoS 1 over one connection, which reconnects by itself. */
function overMqtt() {
  let client
  return {
    async send(service, { mqtt: login }, body) {
      const { username, password, topic } = login
      client ??= openClient(`mqtt://127.0.0.1:${service.mqttPort}`, { username, password, reconnectPeriod: 200 })
      const signal = AbortSignal.timeout(timeoutMs)
      const timeout = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      await Promise.race([client.publishAsync(topic, JSON.stringify(body), { qos: 1 }), timeout])
      return true
    },
    close: () => client?.end(true),
  }
}

/** All writers of one drill, in a new organization. */
export class Writers {
  #service
  #pauseMs
  #orgId
  #creators = []
  #readers = []
  #mqtt = overMqtt()
  #stopping = new AbortController()
  #running

  /** Each writer pauses for `pauseMs` after an acknowledged write. */
  constructor(service, { pauseMs = 5 } = {}) {
    this.#service = service
    this.#pauseMs = pauseMs
  }

  async start() {
    const service = this.#service
    const pauseMs = this.#pauseMs
    const run = (...args) => runCommand(service.databaseUrl, ...args)
    const org = 'Drill'
    this.#orgId = run('org', 'create', '--name', org).org_id
    await service.withDatabase((client) => client.query(locationsOf(this.#orgId)))
    const options = ['--antenna', '1=D-1', '--antenna', '2=D-2', '--antenna', '3=D-3', '--antenna', '4=D-4']
    for (const [index, send] of [overHttp, overHttp, this.#mqtt.send].entries()) {
      const tags = Array.from({ length: assetsPerReader }, (_, asset) =>
        `E28011${index}0000000000000000${asset}0`.slice(0, 24),
      )
      await service.withDatabase((client) => client.query(assetsOf(this.#orgId, index), [tags]))
      const reader = run('reader', 'create', '--org', org, '--name', `Reader ${index}`, ...options)
      this.#readers.push(new Reader(service, { reader, tags, send, pauseMs }))
    }
    for (const name of ['A', 'B', 'C']) {
      const credentials = run('key', 'create', '--org', org, '--name', name, '--scopes', scopes, '--count', '100')
      this.#creators.push(new AssetCreator(service, { name, credentials, pauseMs }))
    }
    const { signal } = this.#stopping
    this.#running = Promise.all([...this.#creators, ...this.#readers].map((writer) => writer.run(signal)))
    return this
  }

  get acknowledged() {
    const creates = this.#creators.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0)
    const reads = this.#readers.reduce((sum, { expectedMinutes }) => sum + expectedMinutes, 0)
    return { creates, reads }
  }

  /** Resolves when every writer has received new acknowledgements; rejects when the signal is aborted. */
  async waitForProgress(signal) {
    const counts = () => [...this.#creators, ...this.#readers].map((writer) => writer.count)
    const before = counts()
    while (!counts().every((count, index) => count > before[index] + 1)) await sleep(10, null, { signal })
  }

  /** Writes in flight are retried until they are acknowledged, for up to 30 seconds. */
  async stop() {
    this.#stopping.abort()
    await Promise.race([this.#running, sleep(stopLimitMs, null, { ref: false })])
    this.#mqtt.close()
  }

  /**
   * Compares the acknowledged writes with the stored rows: each must be stored exactly once. Messages that an external
   * MQTT broker has acknowledged may still wait in the broker, so missing rows get some time to arrive.
   */
  async compare() {
    const deadline = performance.now() + stopLimitMs
    for (;;) {
      const compared = await this.#compareOnce()
      if (compared.lost === 0 || performance.now() > deadline) return compared
      await sleep(500)
    }
  }

  #compareOnce() {
    return this.#service.withDatabase(async (client) => {
      const keys = this.#creators.flatMap(({ acknowledged }) => acknowledged)
      const assets = await client.query(
        `select count(*)::int as stored, count(distinct external_key)::int as distinct
         from assets where org_id = $1 and external_key = any($2)`,
        [this.#orgId, keys],
      )
      let [minutes, moves, expectedMinutes, expectedMoves] = [0, 0, 0, 0]
      for (const { tags, acknowledged } of this.#readers) {
        const { rows } = await client.query(storedOf, [this.#orgId, tags])
        minutes += rows[0].minutes
        moves += rows[0].moves
        expectedMinutes += acknowledged * tags.length
        // Each minute is at another antenna than the previous minute, so each is a move.
        expectedMoves += acknowledged * tags.length
      }
      const { stored, distinct } = assets.rows[0]
      return {
        acknowledged: keys.length + expectedMinutes,
        lost: keys.length - distinct + Math.max(0, expectedMinutes - minutes) + Math.max(0, expectedMoves - moves),
        duplicated: stored - distinct + Math.max(0, minutes - expectedMinutes) + Math.max(0, moves - expectedMoves),
      }
    })
  }
}

const locationsOf = (orgId) => `
  insert into locations (org_id, id, external_key, name, is_active, valid_from, created_at, updated_at, search_text)
  select ${orgId}, 4000000000000 + n, 'D-' || n, 'Dock ' || n, true, now() - interval '30 days', now(), now(), 'dock'
  from generate_series(1, ${antennas}) n`

const assetsOf = (orgId, index) => `
  with tag as (select value, 4100000000000 + ${index} * 1000 + n as id from unnest($1::text[]) with ordinality t (value, n)),
  asset as (insert into assets (org_id, id, external_key, name, metadata, is_active, valid_from, created_at, updated_at, search_text)
    select ${orgId}, id, value, value, '{}', true, now() - interval '30 days', now(), now(), '' from tag)
  insert into tags (org_id, id, asset_id, tag_type, value, normalized_value, created_at)
  select ${orgId}, id + 500, id, 'rfid', value, lower(value), now() from tag`

const storedOf = `
  select (select count(*) from asset_minutes m join tags t on t.org_id = m.org_id and t.asset_id = m.asset_id
      where m.org_id = $1 and t.value = any($2))::int as minutes,
    (select count(*) from moves m join tags t on t.org_id = m.org_id and t.asset_id = m.asset_id
      where m.org_id = $1 and t.value = any($2))::int as moves`
