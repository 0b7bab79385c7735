/** The baseline of webhooks: an undici loop that creates, signs and sends the same events, without a database. */
import { createHmac, randomUUID } from 'node:crypto'
import { Pool } from 'undici'
import { expose } from './expose.mjs'

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const standardKey = Buffer.alloc(24, 7)
const hmac = (key, text) => createHmac('sha256', key).update(text)
let pool

function start({ port, ca, connections }) {
  pool = new Pool(`https://127.0.0.1:${port}`, { connections, pipelining: 1, connect: { ca } })
}

/** An event and its headers as docs/webhooks.md describes them. */
function nextEvent() {
  const id = randomUUID()
  const [asset, from, to] = [
    { id: 8120449930581042, external_key: 'EQ-0000001', name: 'Pallet jack 1000001' },
    { id: 1120449930581042, name: 'Location 1' },
    { id: 2120449930581042, name: 'Location 2' },
  ]
  const occurred_at = new Date().toISOString()
  const data = { asset, from_location: from, to_location: to }
  const body = JSON.stringify({ event: 'asset.moved', delivery_id: id, occurred_at, data })
  const timestamp = String(Math.floor(Date.now() / 1000))
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'Service-Webhooks/1',
    'X-Service-Event': 'asset.moved',
    'X-Service-Delivery': id,
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': `sha256=${hmac(secret, `${timestamp}.${body}`).digest('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${hmac(standardKey, `${id}.${timestamp}.${body}`).digest('base64')}`,
  }
  return { headers, body }
}

async function send({ events, concurrency }) {
  let remaining = events
  const work = async () => {
    while (remaining-- > 0) {
      const { statusCode, body } = await pool.request({ method: 'POST', path: '/', ...nextEvent() })
      await body.dump()
      if (statusCode !== 204) throw new Error(`the receiver returned ${statusCode}`)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
}

expose({ start, send })
