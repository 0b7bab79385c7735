import { afterAll, beforeAll, expect } from 'vitest'
import { type AppOptions, type TestApp, startApp } from './app.ts'
import { Authority, type KeyPair } from './certificates.ts'
import type { Reply, SendOptions } from './client.ts'
import { DnsServer } from './dns-server.ts'
import { WebhookReceiver } from './webhook-receiver.ts'
import { type SiteLocation, Site, type SiteAsset, closeDatabase, database } from './tracking.ts'

/** An app that trusts the test's certificates, uses the test's DNS server, and may send webhooks to 127.0.0.1. */
export class WebhookNetwork {
  app: TestApp = undefined as never
  readonly authority = new Authority()
  pair: KeyPair = undefined as never
  names: DnsServer = undefined as never
  readonly receivers: WebhookReceiver[] = []

  get settings(): Record<string, string> {
    return {
      LASTSEEN_WEBHOOK_ALLOW: '127.0.0.1',
      LASTSEEN_WEBHOOK_CA_FILE: this.authority.caFile,
      LASTSEEN_WEBHOOK_DNS: this.names.address,
    }
  }

  /** Starts the DNS server and issues the certificate. */
  async prepare(): Promise<void> {
    this.names = await DnsServer.open()
    this.names.names.set('hooks.test', ['127.0.0.1'])
    this.pair = this.authority.issue('DNS:hooks.test', 'DNS:*.hooks.test', 'IP:127.0.0.1')
  }

  async start(options: AppOptions): Promise<void> {
    await this.prepare()
    this.app = await startApp({ ...options, settings: { ...this.settings, ...options.settings } })
  }

  async receiver(pair = this.pair): Promise<WebhookReceiver> {
    const receiver = await WebhookReceiver.open(pair)
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

export function useWebhookNetwork(options: AppOptions = {}): WebhookNetwork {
  const network = new WebhookNetwork()
  beforeAll(() => network.start(options))
  afterAll(() => network.stop())
  return network
}

export const urlOf = (receiver: WebhookReceiver, path = '/hook', host = 'hooks.test'): string =>
  `https://${host}:${receiver.port}${path}`

/** An organization with a signed-in admin and assets that the test moves. */
export class WebhookOrg {
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

  static async open(app: TestApp): Promise<WebhookOrg> {
    const site = await Site.open(app, 'Dock', 'Hall')
    return new WebhookOrg(site, (await site.org.signIn('admin')).accessToken)
  }

  /** Opens an organization with an enabled webhook. */
  static async with(app: TestApp, url: string): Promise<WebhookOrg> {
    const webhookOrg = await WebhookOrg.open(app)
    await webhookOrg.register(url)
    return webhookOrg
  }

  get locations(): [SiteLocation, SiteLocation] {
    return this.site.locations as [SiteLocation, SiteLocation]
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

  /** Creates assets and records their first sightings, which are one move each. Returns the delivery ids. */
  async move(count = 1, { isPublished = true } = {}): Promise<string[]> {
    const fresh: SiteAsset[] = []
    for (let index = 0; index < count; index++) fresh.push(await this.site.createAsset(`Thing ${++this.#things}`))
    return this.moveAssets(fresh, this.locations[0], { isPublished })
  }

  async moveAssets(
    assets: readonly SiteAsset[],
    location: SiteLocation,
    { isPublished = true } = {},
  ): Promise<string[]> {
    const at = new Date(this.app.context.clock.millis()).toISOString()
    const moves = await this.site.recordSighting(location, assets, at)
    if (isPublished) await this.app.context.pubsub.publish('moved', String(this.orgId))
    return moves.map((move) => move.deliveryId)
  }

  /** The number of moves of the organization, and the number that wait for delivery. */
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
