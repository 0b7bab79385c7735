import { afterAll, beforeAll, expect } from 'vitest'
import { type AppOptions, type TestApp, startApp } from './app.ts'
import { Authority, type KeyPair } from './certificates.ts'
import type { Reply, SendOptions } from './client.ts'
import { NameServer } from './name-server.ts'
import { Receiver } from './receiver.ts'
import { type Place, Site, type Thing, closeDatabase, database } from './tracking.ts'

/** An app that trusts the test's certificates, asks the test's name server, and may reach 127.0.0.1. */
export class Network {
  app: TestApp = undefined as never
  readonly authority = new Authority()
  pair: KeyPair = undefined as never
  names: NameServer = undefined as never
  readonly receivers: Receiver[] = []

  get settings(): Record<string, string> {
    return {
      LASTSEEN_WEBHOOK_ALLOW: '127.0.0.1',
      LASTSEEN_WEBHOOK_CA_FILE: this.authority.caFile,
      LASTSEEN_WEBHOOK_DNS: this.names.address,
    }
  }

  /** What the network is, before anything runs on it. */
  async prepare(): Promise<void> {
    this.names = await NameServer.open()
    this.names.names.set('hooks.test', ['127.0.0.1'])
    this.pair = this.authority.issue('DNS:hooks.test', 'DNS:*.hooks.test', 'IP:127.0.0.1')
  }

  async start(options: AppOptions): Promise<void> {
    await this.prepare()
    this.app = await startApp({ ...options, settings: { ...this.settings, ...options.settings } })
  }

  async receiver(pair = this.pair): Promise<Receiver> {
    const receiver = await Receiver.open(pair)
    this.receivers.push(receiver)
    return receiver
  }

  async stop(): Promise<void> {
    if (this.app !== undefined) {
      await closeDatabase(this.app)
      await this.app.stop()
    }
    for (const receiver of this.receivers) await receiver.close()
    await this.names.close()
    this.authority.remove()
  }
}

export function useNetwork(options: AppOptions = {}): Network {
  const network = new Network()
  beforeAll(() => network.start(options))
  afterAll(() => network.stop())
  return network
}

export const urlOf = (receiver: Receiver, path = '/hook', host = 'hooks.test'): string =>
  `https://${host}:${receiver.port}${path}`

/** An organization whose things move at the test's word, with an admin signed in. */
export class Watched {
  readonly site: Site
  readonly app: TestApp
  readonly orgId: number
  readonly #token: string
  #things = 0
  webhookId = 0
  secret = ''

  private constructor(site: Site, token: string) {
    this.site = site
    this.app = site.app
    this.orgId = site.org.orgId
    this.#token = token
  }

  static async open(app: TestApp): Promise<Watched> {
    const site = await Site.open(app, 'Dock', 'Hall')
    return new Watched(site, (await site.org.signIn('admin')).accessToken)
  }

  /** With a webhook to the receiver, delivering. */
  static async with(app: TestApp, url: string): Promise<Watched> {
    const watched = await Watched.open(app)
    await watched.register(url)
    return watched
  }

  get places(): [Place, Place] {
    return this.site.places as [Place, Place]
  }

  send(method: string, path: string, options: SendOptions = {}): Promise<Reply> {
    return this.app.anonymous(method, `/api/v1/webhooks${path}`, { token: this.#token, ...options })
  }

  async register(url: string, more: object = {}): Promise<void> {
    const reply = await this.send('POST', '', { json: { url, ...more } })
    expect(reply.status, reply.text).toBe(201)
    this.webhookId = reply.json.data.id
    this.secret = reply.json.data.secret
  }

  async change(json: object): Promise<void> {
    const reply = await this.send('PATCH', `/${this.webhookId}`, { json })
    expect(reply.status, reply.text).toBe(200)
  }

  async remove(): Promise<void> {
    expect((await this.send('DELETE', `/${this.webhookId}`)).status).toBe(204)
  }

  /** So many new things are seen for the first time, which is one move each. Gives their delivery ids. */
  async move(count = 1, { isTold = true } = {}): Promise<string[]> {
    const fresh: Thing[] = []
    for (let index = 0; index < count; index++) fresh.push(await this.site.thing(`Thing ${++this.#things}`))
    return this.moveThings(fresh, this.places[0], { isTold })
  }

  async moveThings(things: readonly Thing[], place: Place, { isTold = true } = {}): Promise<string[]> {
    const at = new Date(this.app.core.clock.millis()).toISOString()
    const moves = await this.site.save(place, things, at)
    if (isTold) await this.app.core.pubsub.publish('moved', String(this.orgId))
    return moves.map((move) => move.deliveryId)
  }

  /** How many moves the organization has, and how many of them wait to be delivered. */
  async outbox(): Promise<Record<'moves' | 'waiting', number>> {
    const [row] = await database(this.app)`
      select (select count(*) from moves where org_id = ${this.orgId}) as moves,
        (select count(*) from webhook_outbox where org_id = ${this.orgId}) as waiting`
    return row as never
  }

  async attempts(): Promise<Record<string, unknown>[]> {
    const reply = await this.send('GET', `/${this.webhookId}/attempts`, { query: { limit: 200 } })
    expect(reply.status).toBe(200)
    return reply.json.data
  }
}
