// @ts-check
// Receives webhook events from Lastseen. It needs Node.js 20 or newer and no packages.
//
//   WEBHOOK_SECRET=whsec_… PORT=9443 TLS_CERT=cert.pem TLS_KEY=key.pem node receiver.mjs
//
// Lastseen calls HTTPS only. TLS_CERT and TLS_KEY are the PEM files of the certificate and of its private key. Without
// them the receiver speaks plain HTTP, for use behind a proxy that terminates TLS. HOST is the address to listen on,
// 127.0.0.1 when it is not set.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'

/**
 * @typedef {object} AssetMoved
 * @property {string} event
 * @property {string} delivery_id
 * @property {string} occurred_at
 * @property {object} data
 * @property {{ id: number, external_key: string, name: string }} data.asset
 * @property {{ id: number, name: string } | null} data.from_location
 * @property {{ id: number, name: string }} data.to_location
 */

const { WEBHOOK_SECRET: secret, HOST: host = '127.0.0.1', PORT: port = '9443', TLS_CERT, TLS_KEY } = process.env
if (!secret) {
  console.error('Set WEBHOOK_SECRET to the secret that was shown when the webhook was created')
  process.exit(2)
}
const toleranceSeconds = 5 * 60

/**
 * The key is the secret as it was shown, `whsec_` included. The signed text is the timestamp, a dot, and the raw bytes.
 *
 * @param {string} timestamp
 * @param {string} signature
 * @param {Buffer} body
 */
function isGenuine(timestamp, signature, body) {
  const expected = `sha256=${createHmac('sha256', secret ?? '')
    .update(`${timestamp}.`)
    .update(body)
    .digest('hex')}`
  const [given, wanted] = [Buffer.from(signature), Buffer.from(expected)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

/** @param {string} timestamp */
function isRecent(timestamp) {
  return Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds
}

/**
 * An event may arrive twice. A real receiver stores these ids so that they survive a restart.
 *
 * @type {Set<string>}
 */
const seen = new Set()

/** @param {AssetMoved} moved */
function handle(moved) {
  const { asset, from_location: from, to_location: to } = moved.data
  console.log(`${moved.occurred_at} ${asset.external_key} ${from?.name ?? '(nowhere)'} -> ${to.name}`)
}

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
function receive(request, response) {
  /** @type {Buffer[]} */
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks)
    const timestamp = String(request.headers['x-service-timestamp'] ?? '')
    const signature = String(request.headers['x-service-signature'] ?? '')
    if (!isGenuine(timestamp, signature, body) || !isRecent(timestamp)) {
      response.writeHead(401).end()
      return
    }
    /** @type {AssetMoved} */
    const moved = JSON.parse(body.toString('utf8'))
    // Lastseen waits 5 seconds for the answer, so do longer work after it.
    response.writeHead(204).end()
    if (moved.event !== 'asset.moved' || seen.has(moved.delivery_id)) return
    seen.add(moved.delivery_id)
    handle(moved)
  })
}

const server =
  TLS_CERT && TLS_KEY
    ? createHttpsServer({ cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) }, receive)
    : createHttpServer(receive)
server.listen(Number(port), host, () => console.log(`listening on ${TLS_CERT ? 'https' : 'http'}://${host}:${port}`))
