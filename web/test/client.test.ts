import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Org, url } from './support/org.ts'
import { expect, test } from './support/test.ts'

const dist = new URL('../../client/dist/', import.meta.url)

/** Serves the built client package from another origin than the API. */
const otherOrigin = createServer((request, response) => {
  const path = request.url ?? '/'
  const type = path === '/' ? 'text/html' : 'text/javascript'
  void (path === '/' ? Promise.resolve('<!doctype html>') : readFile(new URL(`.${path}`, dist))).then(
    (text) => response.writeHead(200, { 'content-type': type }).end(text),
    () => response.writeHead(404).end(),
  )
})

test.beforeAll(() => new Promise<void>((resolve) => otherOrigin.listen(0, '127.0.0.1', resolve)))
test.afterAll(() => void otherOrigin.close())

test('The client package runs in a page of another origin, including errors and webhooks', async ({ page }) => {
  const org = await Org.create()
  const { id } = await org.asset('Pallet jack', { external_key: 'JACK-7' })
  const { org: own } = await org.get('/auth/me')
  const minted = await org.post(`/orgs/${own.id}/api-keys`, { name: 'page', scopes: ['assets:read'] })
  const { jti: clientId, key: clientSecret } = minted
  await page.goto(`http://127.0.0.1:${(otherOrigin.address() as AddressInfo).port}/`)
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
  const timestamp = String(Math.floor(Date.now() / 1000))
  const body = '{"event":"asset.moved"}'
  const signature = `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`
  const headers = { 'x-service-timestamp': timestamp, 'x-service-signature': signature }

  const given = { baseUrl: url(), clientId, clientSecret, secret, headers, body, id }
  const seen = await page.evaluate(async ({ baseUrl, clientId, clientSecret, secret, headers, body, id }) => {
    const { Lastseen, verifyWebhook } = await import(`${location.origin}/index.js`)
    const lastseen = new Lastseen({ baseUrl, clientId, clientSecret })
    const keys: string[] = []
    for await (const asset of lastseen.assets.iterate({ q: 'jack' })) keys.push(asset.external_key)
    const refused = await lastseen.assets.delete(id).catch((error: unknown) => error)
    const { event } = await verifyWebhook(secret, { headers, body })
    return { keys, event, name: refused.name, type: refused.type, requestId: refused.requestId }
  }, given)
  expect(seen).toEqual({
    keys: ['JACK-7'],
    event: 'asset.moved',
    name: 'ForbiddenError',
    type: 'forbidden',
    requestId: expect.stringMatching(/^[0-9A-Z]{26}$/),
  })
})
