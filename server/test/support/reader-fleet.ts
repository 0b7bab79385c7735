import { setTimeout as sleep } from 'node:timers/promises'
import type { MqttClient } from 'mqtt'
import { expect } from 'vitest'
import { openAppContext } from '../../src/app/context.ts'
import { createAsset } from '../../src/assets/commands.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLocation } from '../../src/locations/commands.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { createReader } from '../../src/readers/commands.ts'
import { publish, connectMqtt } from './mqtt.ts'
import { withSql } from './process.ts'
import { newTag } from './tracking.ts'

const minuteMs = 60_000
const locationCount = 4

/** Sends one message and returns whether it was acknowledged. */
export type Transport = (reader: { id: number; token: string; topic: string }, body: string) => Promise<boolean>

interface FleetReader {
  id: number
  token: string
  topic: string
  assets: { id: number; tag: string }[]
  /** The antenna of each asset in each acknowledged batch; the index of a batch is its minute. */
  acknowledged: number[][]
}

/** The expected or actual contents of the tables. */
export interface Recorded {
  minutes: string[]
  positions: string[]
  moves: string[]
}

/**
 * Readers that send one batch after the other and, like real ones, resend a batch until it is acknowledged. Each reader
 * has its own assets and reads all of them once a minute, so the expected records are known exactly.
 */
export class ReaderFleet {
  readonly orgId: number
  readonly #locationIds: number[]
  readonly #readers: FleetReader[]
  readonly #startMs: number
  #isOver = false
  #sending: Promise<unknown> = Promise.resolve()
  resent = 0

  private constructor(orgId: number, locations: number[], readers: FleetReader[], nowMs: number) {
    this.#startMs = Math.floor(nowMs / minuteMs) * minuteMs - 20_000 * minuteMs
    this.orgId = orgId
    this.#locationIds = locations
    this.#readers = readers
  }

  static async create(
    databaseUrl: string,
    readerCount: number,
    assetsEach: number,
    nowMs = Date.now(),
  ): Promise<ReaderFleet> {
    const context = await openAppContext({ config: readConfig({ DATABASE_URL: databaseUrl }), url: databaseUrl })
    try {
      const { orgId } = await createOrganization(context, 'Fleet')
      const draft = { description: null, isActive: true, validTo: null }
      const locations: number[] = []
      for (let index = 0; index < locationCount; index++)
        locations.push(
          (await createLocation(context, orgId, { ...draft, name: `Location ${index}`, tags: [], parent: {} })).id,
        )
      const scanPoints = locations.map((locationId, index) => ({ antenna: index + 1, locationId }))
      const readers: FleetReader[] = []
      for (let reader = 0; reader < readerCount; reader++) {
        const assets: FleetReader['assets'] = []
        for (let index = 0; index < assetsEach; index++) {
          const tag = newTag()
          const tags = [{ type: 'rfid' as const, value: tag }]
          const made = await createAsset(context, orgId, { ...draft, name: `Thing ${index}`, metadata: {}, tags })
          assets.push({ id: made.id, tag })
        }
        const { reader: made, token } = await createReader(context, orgId, {
          name: `R${reader}`,
          format: 'auto',
          clock: 'reader',
          scanPoints,
        })
        const topic = `lastseen/${made.topicKey}/reads`
        readers.push({ id: made.id, token, topic, assets, acknowledged: [] })
      }
      return new ReaderFleet(orgId, locations, readers, nowMs)
    } finally {
      await context.close()
    }
  }

  get batches(): number {
    return this.#readers.reduce((sum, reader) => sum + reader.acknowledged.length, 0)
  }

  /** Makes every reader send one message after the other until `finish` is called. */
  start(transport: Transport): void {
    this.#sending = Promise.all(this.#readers.map((reader) => this.#send(reader, transport)))
  }

  /** Waits until every reader's last batch is acknowledged. */
  async finish(): Promise<void> {
    this.#isOver = true
    await this.#sending
  }

  /** Waits until this many more batches are acknowledged. */
  async waitForBatches(batches: number): Promise<void> {
    for (const goal = this.batches + batches; this.batches < goal;) await sleep(5)
  }

  #timestampOf(batch: number): string {
    return new Date(this.#startMs + batch * minuteMs + 7_000).toISOString()
  }

  async #send(reader: FleetReader, transport: Transport): Promise<void> {
    while (!this.#isOver) {
      const batch = reader.acknowledged.length
      const antennas = reader.assets.map(() => 1 + Math.floor(Math.random() * locationCount))
      const observed_at = this.#timestampOf(batch)
      const body = JSON.stringify({
        reads: reader.assets.map(({ tag }, index) => ({ tag, antenna: antennas[index], observed_at })),
      })
      while (!(await transport(reader, body))) {
        this.resent++
        await sleep(20)
      }
      reader.acknowledged.push(antennas)
    }
  }

  /** Computes the expected records from the acknowledged batches. */
  expected(): Recorded {
    const all: Recorded = { minutes: [], positions: [], moves: [] }
    for (const { assets, acknowledged } of this.#readers)
      assets.forEach(({ id }, index) => {
        let last: number | null = null
        acknowledged.forEach((antennas, batch) => {
          const location = this.#locationIds[antennas[index]! - 1]!
          all.minutes.push(`${id} ${this.#timestampOf(batch)} ${location}`)
          if (location !== last) all.moves.push(`${id} ${this.#timestampOf(batch)} ${last} ${location}`)
          last = location
        })
        const count = acknowledged.length
        if (count > 0) all.positions.push(`${id} ${this.#timestampOf(count - 1)} ${last} ${count}`)
      })
    return { minutes: all.minutes.sort(), positions: all.positions.sort(), moves: all.moves.sort() }
  }

  recorded(databaseUrl: string): Promise<Recorded> {
    return withSql(databaseUrl, async (sql) => {
      const minutes = await sql`
        select asset_id, observed_at, location_id from asset_minutes where org_id = ${this.orgId}`
      const positions = await sql`
        select asset_id, last_seen_at, location_id, minutes from asset_positions where org_id = ${this.orgId}`
      const moves = await sql`
        select asset_id, occurred_at, from_location_id, to_location_id from moves where org_id = ${this.orgId}`
      const line = (row: postgresRow): string =>
        Object.values(row)
          .map((value) => (value instanceof Date ? value.toISOString() : String(value)))
          .join(' ')
      const lines = (rows: readonly postgresRow[]): string[] => rows.map(line).sort()
      return { minutes: lines(minutes), positions: lines(positions), moves: lines(moves) }
    })
  }
}

type postgresRow = Record<string, unknown>

/** Over HTTP: only a 202 with every read accepted is an acknowledgement. */
export const overHttp =
  (url: string): Transport =>
  async (reader, body) => {
    const headers = {
      authorization: `Bearer ${reader.token}`,
      'content-type': 'application/json',
      'user-agent': 'fleet',
    }
    const accepted = (JSON.parse(body) as { reads: unknown[] }).reads.length
    try {
      const signal = AbortSignal.timeout(5000)
      const reply = await fetch(`${url}/ingest/v1/reads`, { method: 'POST', headers, body, signal })
      const text = await reply.text()
      if (reply.status !== 202) return false
      expect(JSON.parse(text)).toEqual({ data: { accepted, ignored: 0 } })
      return true
    } catch (error) {
      if ((error as Error).name === 'AssertionError') throw error
      return false
    }
  }

/** Over MQTT with QoS 1, with a new connection after every disconnect, to one of the URLs after the other. */
export function overMqtt(
  urls: string | readonly string[],
  { isOutside }: { isOutside: boolean },
): Transport & { end(): Promise<void> } {
  const all = typeof urls === 'string' ? [urls] : urls
  const clients = new Map<number, MqttClient>()
  let attempts = 0
  const send: Transport = async ({ id, token, topic }, body) => {
    try {
      const login = isOutside ? {} : { username: String(id), password: token }
      const known = clients.get(id)
      const client = known?.connected ? known : await connectMqtt(all[attempts++ % all.length]!, login)
      clients.set(id, client)
      if ((await publish(client, topic, body)) === 'acknowledged') return true
      clients.delete(id)
      await client.endAsync(true)
      return false
    } catch {
      return false
    }
  }
  const end = async (): Promise<void> => {
    for (const client of clients.values()) await client.endAsync(true)
  }
  return Object.assign(send, { end })
}
