// Receives webhook events from Lastseen. Node.js 20 or newer, nothing to install.
//
//   WEBHOOK_SECRET=whsec_… PORT=9000 node receiver.js
//
// It speaks plain HTTP: put it behind something that speaks HTTPS, because Lastseen calls nothing else.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

interface AssetMoved {
  event: string
  delivery_id: string
  occurred_at: string
  data: {
    asset: { id: number; external_key: string; name: string }
    from_location: { id: number; name: string } | null
    to_location: { id: number; name: string }
  }
}

const secret = process.env['WEBHOOK_SECRET'] ?? ''
const toleranceSeconds = 5 * 60

/** The key is the secret as it was shown, `whsec_` included; the text is the timestamp, a dot, and the raw bytes. */
function isGenuine(timestamp: string, signature: string, body: Buffer): boolean {
  const expected = `sha256=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`
  const [given, wanted] = [Buffer.from(signature), Buffer.from(expected)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

function isRecent(timestamp: string): boolean {
  return Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds
}

/** An event may come twice. Keep these ids where they survive a restart, at least for a few minutes. */
const seen = new Set<string>()

function handle(moved: AssetMoved): void {
  const { asset, from_location: from, to_location: to } = moved.data
  console.log(`${moved.occurred_at} ${asset.external_key} ${from?.name ?? '(nowhere)'} -> ${to.name}`)
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks)
    const header = (name: string): string => String(request.headers[name] ?? '')
    const timestamp = header('x-service-timestamp')
    if (!isGenuine(timestamp, header('x-service-signature'), body) || !isRecent(timestamp)) {
      response.writeHead(401).end()
      return
    }
    const moved = JSON.parse(body.toString('utf8')) as AssetMoved
    // Answer within 5 seconds; do longer work afterwards.
    response.writeHead(204).end()
    if (moved.event !== 'asset.moved' || seen.has(moved.delivery_id)) return
    seen.add(moved.delivery_id)
    handle(moved)
  })
})

server.listen(Number(process.env['PORT'] ?? 9000), '127.0.0.1', () => console.log('listening'))
