/** The floor of delivery: a bare undici loop that signs and sends the same events, with nothing to claim or to write down. */
import { createRequire } from 'node:module'
import { randomUUID } from 'node:crypto'
import { bodyOf } from '../server/dist/webhooks/payload.js'
import { sign } from '../server/dist/webhooks/signature.js'

const { Pool } = createRequire(new URL('../server/package.json', import.meta.url))('undici')

let pool
const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const place = (id) => ({ id, name: `Place ${id}` })

function event() {
  const occurredAt = new Date().toISOString().replace('Z', '000Z')
  const asset = { assetId: 8120449930581042, assetKey: 'EQ-0000001', assetName: 'Pallet jack 1000001' }
  return { deliveryId: randomUUID(), ...asset, from: place(1), to: place(2), occurredAt }
}

async function run({ events, concurrency }) {
  const startedAt = performance.now()
  let left = events
  async function work() {
    while (left-- > 0) {
      const move = event()
      const body = bodyOf(move)
      const nowMs = Date.now()
      const { headers } = sign(secret, { id: move.deliveryId, body, occurredMs: nowMs, startedMs: nowMs })
      const answer = await pool.request({ method: 'POST', path: '/in', headers, body })
      await answer.body.dump()
      if (answer.statusCode !== 204) throw new Error(`answered ${answer.statusCode}`)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return { perSecond: (events / (performance.now() - startedAt)) * 1000 }
}

process.on('message', async ({ prepare, run: wanted }) => {
  try {
    if (prepare !== undefined) {
      const { port, ca, connections } = prepare
      pool = new Pool(`https://127.0.0.1:${port}`, { connections, pipelining: 1, connect: { ca } })
    }
    process.send({ result: wanted === undefined ? null : await run(wanted) })
  } catch (error) {
    process.send({ error: error.message })
  }
})
process.on('disconnect', () => process.exit())
