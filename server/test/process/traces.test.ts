import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AppContext, openAppContext } from '../../src/app/context.ts'
import { readConfig } from '../../src/config/config.ts'
import { TestApp } from '../support/app.ts'
import { send } from '../support/client.ts'
import { OtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.ts'
import { freePort } from '../support/free-port.ts'
import { type Environment, emptyDatabase, newFolder, serve, usePrograms } from '../support/process.ts'
import { Site, eventually } from '../support/tracking.ts'
import { respondWith } from '../support/webhook-receiver.ts'
import { WebhookNetwork, WebhookOrg, urlOf } from '../support/webhooks.ts'

usePrograms()

const network = new WebhookNetwork()
/** The numbers of OTLP. */
const kinds = { internal: 1, server: 2, client: 3 }
let database: Awaited<ReturnType<typeof emptyDatabase>>
let context: AppContext
let settings: Environment
/** Prints the packages that a program has loaded when it exits. */
const preload = join(newFolder(), 'print-loaded.cjs')
const loadedSdk = /^loaded: .*sdk-trace/m

beforeAll(async () => {
  writeFileSync(
    preload,
    `process.on('exit', () => require('node:fs').writeSync(2, 'loaded: ' + Object.keys(require.cache) + '\\n'))`,
  )
  await network.prepare()
  database = await emptyDatabase()
  settings = { ...network.settings, DATABASE_URL: database.url, NODE_OPTIONS: `--require ${preload}` }
}, 120_000)
afterAll(async () => {
  await context?.close()
  await network.stop()
  await database.drop()
}, 60_000)

async function appAt(url: string): Promise<TestApp> {
  context ??= await openAppContext({ config: readConfig({ DATABASE_URL: database.url }), url: database.url })
  return new TestApp([url], context, database.url, async () => undefined)
}

const textsOf = (spans: readonly ReceivedSpan[]): string[] =>
  spans.flatMap(({ attributes }) => String(attributes['db.query.text'] ?? []))

describe('a server with OTEL_EXPORTER_OTLP_ENDPOINT', { timeout: 120_000 }, () => {
  it('exports spans of requests, statements, batches of reads and deliveries, without values of tenants', async () => {
    const collector = await OtlpReceiver.open()
    const { program, url } = await serve({
      ...settings,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=opensesame',
      OTEL_SERVICE_NAME: 'lastseen-test',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    })
    const app = await appAt(url)
    const endpoint = await network.receiver()
    endpoint.behaviour = (response, received, number, request) =>
      respondWith(number === 1 ? 503 : 204)(response, received, number, request)
    const org = await WebhookOrg.with(app, urlOf(endpoint, '/hook-path?key=endpoint-secret'))
    const asset = await org.site.createAsset('Confidential forklift', { description: 'Confidential words' })

    const trace = { id: '4bf92f3577b34da6a3ce929d0e0e4736', span: '00f067aa0ba902b7' }
    const headers = { traceparent: `00-${trace.id}-${trace.span}-01` }
    expect((await org.site.api.send('GET', `/api/v1/assets/${asset.id}`, { headers })).status).toBe(200)
    expect((await org.site.api.get('/api/v1/assets', { q: 'Confidential' })).json.total_count).toBe(1)
    expect((await app.anonymous('GET', `/nowhere/ls_${'ab'.repeat(32)}`)).status).toBe(404)
    await org.site.sendReads({ tag: asset.tag, antenna: 1 })
    await expect.poll(() => endpoint.received.length, { timeout: 30_000 }).toBe(2)
    await eventually(async () => expect(collector.named('webhook attempt')).toHaveLength(2))
    await program.stop()

    expect(collector.requests[0]).toMatchObject({ path: '/v1/traces', headers: { 'x-collector-key': 'opensesame' } })
    expect(collector.spans[0]!.resource).toMatchObject({ 'service.name': 'lastseen-test' })

    const get = collector.spans.find(({ parentSpanId }) => parentSpanId === trace.span)!
    expect(get).toMatchObject({ traceId: trace.id, name: 'assets.get', kind: kinds.server, isFailed: false })
    expect(get.attributes).toEqual({
      'http.request.method': 'GET',
      'http.route': '/api/v1/assets/{asset_id}',
      'http.response.status_code': 200,
      'url.path': `/api/v1/assets/${asset.id}`,
      'lastseen.org_id': org.orgId,
    })
    const [selected, ...more] = collector.childrenOf(get)
    expect(more).toEqual([])
    expect(selected).toMatchObject({ name: 'postgresql', kind: kinds.client })
    expect(selected!.attributes).toEqual({
      'db.system.name': 'postgresql',
      'db.query.text': expect.stringMatching(/select[^]+from assets r[^]+= \$1/),
    })

    const create = collector.named('assets.create')[0]!
    expect(create).toMatchObject({ parentSpanId: null, kind: kinds.server })
    expect(create.attributes).toMatchObject({ 'http.route': '/api/v1/assets', 'http.response.status_code': 201 })
    expect(textsOf(collector.childrenOf(create)).join()).toContain('insert into assets')

    const [message] = collector.named('ingest.reads')
    expect(message).toMatchObject({ parentSpanId: null, kind: kinds.server })
    const [batch] = collector.childrenOf(message!).filter(({ name }) => name === 'record reads')
    expect(batch).toMatchObject({ kind: kinds.internal, links: [] })
    expect(batch!.attributes).toEqual({ 'lastseen.org_id': org.orgId, 'lastseen.reads': 1 })
    const statements = collector.childrenOf(batch!).filter(({ name }) => name === 'postgresql')
    expect(textsOf(statements)).toEqual([expect.stringContaining('from record_reads($1')])

    const claim = collector.named('webhook claim').find(({ attributes }) => attributes['lastseen.moves'] === 1)!
    expect(claim).toMatchObject({ parentSpanId: null, kind: kinds.internal })
    expect(textsOf(collector.childrenOf(claim)).join()).toContain('delete from webhook_outbox')
    const attempts = collector.childrenOf(batch!).filter(({ name }) => name === 'webhook attempt')
    const delivery = {
      'http.request.method': 'POST',
      'server.address': 'hooks.test',
      'server.port': endpoint.port,
      'lastseen.delivery_id': endpoint.received[0]!.headers['x-service-delivery'],
    }
    expect(attempts.map(({ kind, isFailed, attributes }) => ({ kind, isFailed, attributes }))).toEqual([
      {
        kind: kinds.client,
        isFailed: true,
        attributes: {
          ...delivery,
          'http.request.resend_count': 0,
          'http.response.status_code': 503,
          'error.type': '503',
        },
      },
      {
        kind: kinds.client,
        isFailed: false,
        attributes: { ...delivery, 'http.request.resend_count': 1, 'http.response.status_code': 204 },
      },
    ])

    const exported = JSON.stringify(collector.spans)
    expect(exported).toContain('/nowhere/{secret}')
    for (const value of ['onfidential', 'CONFIDENTIAL', asset.tag, 'hook-path', 'endpoint-secret', org.secret, 'abab'])
      expect(exported).not.toContain(value)
    expect((await program.ended).stderr).toMatch(loadedSdk)
    await collector.close()
  })

  it('continues the trace of the request that moved an asset in the process that delivers the move', async () => {
    const collector = await OtlpReceiver.open()
    const traced = { ...settings, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' }
    const { program, url } = await serve({ ...traced, LASTSEEN_ROLES: 'api' })
    const deliverer = await serve({ ...traced, LASTSEEN_ROLES: 'deliver' })
    const app = await appAt(url)
    const endpoint = await network.receiver()
    const org = await WebhookOrg.with(app, urlOf(endpoint))
    const [dock, hall] = org.locations
    const asset = await org.site.createAsset('Trolley')

    /** Moves the asset in a request of the trace, and returns the span of the attempt to deliver the move. */
    const moveTo = async ({ key }: { key: string }, traceparent: string): Promise<ReceivedSpan> => {
      const json = { location_identifier: key, asset_identifiers: [asset.key] }
      const save = { json, headers: { traceparent } }
      expect((await org.site.api.send('POST', '/api/v1/inventory/save', save)).status).toBe(201)
      const attempts = collector.named('webhook attempt').length
      await expect.poll(() => collector.named('webhook attempt').length, { timeout: 30_000 }).toBe(attempts + 1)
      return collector.named('webhook attempt').at(-1)!
    }
    const trace = '0af7651916cd43dd8448eb211c80319c'
    const delivered = await moveTo(dock, `00-${trace}-b7ad6b7169203331-01`)
    const unsampled = await moveTo(hall, `00-${'ab'.repeat(16)}-b7ad6b7169203331-00`)
    await program.stop()
    await deliverer.program.stop()

    const save = collector.named('inventory.save').find(({ traceId }) => traceId === trace)!
    const children = collector.childrenOf(save)
    expect(textsOf(children).join()).toContain('record_operator_sighting($1')
    expect(children).toContainEqual(delivered)
    expect(delivered.attributes['lastseen.delivery_id']).toBe(endpoint.received[0]!.headers['x-service-delivery'])
    // A request that its client does not sample is not traced, so its delivery belongs to the claim.
    expect(collector.named('webhook claim').flatMap((claim) => collector.childrenOf(claim))).toContainEqual(unsampled)
    await collector.close()
  })

  it('links a batch of reads to the requests that sent them', async () => {
    const collector = await OtlpReceiver.open()
    const traced = { ...settings, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' }
    const { program, url } = await serve(traced)
    const site = await Site.open(await appAt(url), 'Gate')
    const asset = await site.createAsset('Barrow')
    const requests = 40
    await Promise.all(Array.from({ length: requests }, () => site.sendReads({ tag: asset.tag, antenna: 1 })))
    await program.stop()

    const batches = collector.named('record reads')
    // Requests that arrive while a batch is in flight share the next one.
    expect(batches.length).toBeLessThan(requests)
    const leading = batches.flatMap(({ parentSpanId, links }) => [parentSpanId, ...links.map(({ spanId }) => spanId)])
    expect(leading.toSorted()).toEqual(
      collector
        .named('ingest.reads')
        .map(({ spanId }) => spanId)
        .toSorted(),
    )
    await collector.close()
  })

  it.each<[string, () => Promise<Pick<OtlpReceiver, 'url' | 'close'>>]>([
    [
      'refuses connections',
      async () => ({ url: `http://127.0.0.1:${await freePort()}`, close: async () => undefined }),
    ],
    ['never responds', () => OtlpReceiver.open({ respondsNever: true })],
  ])('serves requests and stops while the collector %s', async (_how, open) => {
    const collector = await open()
    const { program, url } = await serve({
      ...settings,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      // A small queue overflows in this test.
      OTEL_BSP_MAX_QUEUE_SIZE: '20',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10',
    })
    const startedAt = performance.now()
    for (let count = 0; count < 200; count++) expect((await send(url, 'GET', '/api/v1/assets')).status).toBe(401)
    // Far less than the timeout of one export.
    expect((performance.now() - startedAt) / 200).toBeLessThan(50)
    await expect.poll(() => program.stdout, { timeout: 20_000 }).toContain('"event":"traces.failed"')
    const stoppingAt = performance.now()
    expect((await program.stop()).code).toBe(0)
    expect(performance.now() - stoppingAt).toBeLessThan(10_000)
    await collector.close()
  })
})

describe('a server without OTEL_EXPORTER_OTLP_ENDPOINT', { timeout: 60_000 }, () => {
  it('loads no package of the SDK', async () => {
    const { program, url } = await serve(settings)
    expect((await send(url, 'GET', '/api/v1/assets')).status).toBe(401)
    const { stderr } = await program.stop()
    expect(stderr).toContain('loaded: ')
    expect(stderr).not.toMatch(loadedSdk)
  })
})
