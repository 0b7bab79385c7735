import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import type { ReceivedRequest } from '../support/webhook-receiver.ts'
import { database, eventually } from '../support/tracking.ts'
import { WebhookOrg, urlOf, useWebhookNetwork } from '../support/webhooks.ts'

const network = useWebhookNetwork({ delivery: { sweepMs: 2000 } })

/** The signature as other programs compute it, without the code under test. */
const openssl = (secret: string, { headers, body }: ReceivedRequest): string => {
  const input = Buffer.concat([Buffer.from(`${headers['x-service-timestamp']}.`), body])
  const printed = execFileSync('openssl', ['dgst', '-sha256', '-hmac', secret], { input }).toString()
  return `sha256=${printed.trim().split(' ').at(-1)}`
}

const python = (secret: string, { headers, body }: ReceivedRequest): string[] => {
  const script = [
    'import base64, hashlib, hmac, sys',
    'secret, occurred, delivery, started = sys.argv[1:]',
    'body = sys.stdin.buffer.read()',
    "print('sha256=' + hmac.new(secret.encode(), occurred.encode() + b'.' + body, hashlib.sha256).hexdigest())",
    "key = base64.b64decode(secret[len('whsec_'):], validate=True)",
    "message = f'{delivery}.{started}.'.encode() + body",
    "print('v1,' + base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()).decode())",
  ].join('\n')
  const texts = [headers['x-service-timestamp']!, headers['webhook-id']!, headers['webhook-timestamp']!]
  return execFileSync('python3', ['-c', script, secret, ...texts], { input: body })
    .toString()
    .trim()
    .split('\n')
}

const bodyOf = (received: ReceivedRequest) => JSON.parse(received.body.toString('utf8'))

describe('a delivery', () => {
  it('is a POST with the contract’s body and headers', async () => {
    const receiver = await network.receiver()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver, '/hooks/in?key=a%20b'))
    const [dock, hall] = webhookOrg.locations
    const pallet = await webhookOrg.site.createAsset('Pälлет “7”')
    const before = Math.floor(Date.now() / 1000)
    await webhookOrg.site.sendReads({
      tag: pallet.tag,
      antenna: 1,
      observed_at: new Date(Date.now() - 90_000).toISOString(),
    })
    await webhookOrg.site.sendReads({ tag: pallet.tag, antenna: 2, observed_at: new Date().toISOString() })
    await eventually(async () => expect(receiver.received).toHaveLength(2))

    const rows = await database(network.app)`
      select delivery_id, to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as occurred
      from moves where org_id = ${webhookOrg.orgId} order by occurred_at`
    const asset = { id: pallet.id, external_key: pallet.key, name: 'Pälлет “7”' }
    const byTime = receiver.received.sort((a, b) => (bodyOf(a).occurred_at < bodyOf(b).occurred_at ? -1 : 1))
    expect(byTime.map(bodyOf)).toEqual([
      {
        event: 'asset.moved',
        delivery_id: rows[0]!['delivery_id'],
        occurred_at: rows[0]!['occurred'],
        data: { asset, from_location: null, to_location: { id: dock.id, name: 'Dock' } },
      },
      {
        event: 'asset.moved',
        delivery_id: rows[1]!['delivery_id'],
        occurred_at: rows[1]!['occurred'],
        data: { asset, from_location: { id: dock.id, name: 'Dock' }, to_location: { id: hall.id, name: 'Hall' } },
      },
    ])
    for (const one of byTime) {
      const { delivery_id: id, occurred_at: occurred } = bodyOf(one)
      expect([one.method, one.path]).toEqual(['POST', '/hooks/in?key=a%20b'])
      expect(one.headers).toEqual({
        host: `hooks.test:${receiver.port}`,
        connection: 'keep-alive',
        'content-length': String(one.body.length),
        'content-type': 'application/json',
        'user-agent': 'Service-Webhooks/1',
        'x-service-event': 'asset.moved',
        'x-service-delivery': id,
        'x-service-timestamp': String(Math.floor(Date.parse(occurred) / 1000)),
        'x-service-signature': openssl(webhookOrg.secret, one),
        'webhook-id': id,
        'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
        'webhook-signature': python(webhookOrg.secret, one)[1],
      })
      expect(Number(one.headers['webhook-timestamp'])).toBeGreaterThanOrEqual(before)
      expect(one.names).toEqual(
        expect.arrayContaining(['X-Service-Event', 'X-Service-Delivery', 'X-Service-Timestamp']),
      )
    }
  })

  it('is signed with the secret as it was shown, prefix included, over the raw bytes (D33)', async () => {
    const receiver = await network.receiver()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    await webhookOrg.move()
    await eventually(async () => expect(receiver.received).toHaveLength(1))
    const [one] = receiver.received
    expect(one!.headers['x-service-signature']).toBe(openssl(webhookOrg.secret, one!))
    const signatures = [one!.headers['x-service-signature'], one!.headers['webhook-signature']]
    expect(python(webhookOrg.secret, one!)).toEqual(signatures)
    expect(openssl(webhookOrg.secret.slice('whsec_'.length), one!)).not.toBe(signatures[0])
  })

  it('has the names at the time of the move', async () => {
    const receiver = await network.receiver()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    const [dock] = webhookOrg.locations
    const thing = await webhookOrg.site.createAsset('Old name')
    await webhookOrg.moveAssets([thing], dock, { isPublished: false })
    const renamed = await webhookOrg.site.api.patch(`/api/v1/assets/${thing.id}`, { name: 'New name' })
    expect(renamed.status).toBe(200)
    expect((await webhookOrg.site.api.patch(`/api/v1/locations/${dock.id}`, { name: 'New dock' })).status).toBe(200)
    await network.app.context.pubsub.publish('moved', String(webhookOrg.orgId))
    await eventually(async () => expect(receiver.received).toHaveLength(1))
    expect(bodyOf(receiver.received[0]!).data).toMatchObject({
      asset: { name: 'Old name' },
      to_location: { name: 'Dock' },
    })
  })

  it('is sent only for a move: creating, changing, renaming, tagging and deleting a record sends nothing', async () => {
    const receiver = await network.receiver()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    const { api } = webhookOrg.site
    for (const kind of ['assets', 'locations']) {
      const { id } = (await api.post(`/api/v1/${kind}`, { name: 'a' })).json.data
      const path = `/api/v1/${kind}/${id}`
      await api.patch(path, { name: 'b' })
      await api.post(`${path}/rename`, { external_key: 'NEW' })
      const tag = await api.post(`${path}/tags`, { tag_type: 'barcode', value: 'NEW' })
      await api.delete(`${path}/tags/${tag.json.data.id}`)
      expect((await api.delete(path)).status).toBe(204)
    }
    const [id] = await webhookOrg.move()
    await eventually(async () => expect(receiver.received).toHaveLength(1))
    expect(receiver.received[0]!.headers['x-service-delivery']).toBe(id)
    expect(await webhookOrg.outbox()).toEqual({ moves: 1, waiting: 0 })
  })

  it('reuses a connection, and claims each move once', async () => {
    const receiver = await network.receiver()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    const ids = await webhookOrg.move(40)
    await eventually(async () => expect(receiver.received).toHaveLength(40))
    expect(receiver.received.map((one) => one.headers['x-service-delivery']).sort()).toEqual(ids.sort())
    expect(receiver.connections).toBeLessThan(33)
    expect(await webhookOrg.outbox()).toEqual({ moves: 40, waiting: 0 })
  })

  it('is found without an event, by the next sweep', async () => {
    const receiver = await network.receiver()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    await webhookOrg.move(2, { isPublished: false })
    await eventually(async () => expect(receiver.received).toHaveLength(2), 20_000)
  })
})
