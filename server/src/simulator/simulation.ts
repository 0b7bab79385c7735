import { setTimeout } from 'node:timers/promises'
import { SeededRandom } from './seeded-random.ts'
import { messages, singleFormats } from './messages.ts'
import { type Site, type SiteAsset, type SitePoint, nextPoint } from './site.ts'

export interface SimulationOptions {
  site: Site
  tokens: ReadonlyMap<string, string>
  /** The URL of the ingest endpoint, without the token. */
  ingestUrl: string
  format: string
  seed: number
  signal: AbortSignal
  millis: () => number
  onSent?: (reads: number) => void
}

interface SimulatedSighting {
  asset: SiteAsset
  point: SitePoint
  atMs: number
}

const maxReadsPerMessage = 500

/**
 * `fetch` keeps a listener on its signal until garbage collection, and Node.js warns when there are many. So each request
 * has its own signal, and the only listener on the shared signal is removed at the end of the request.
 */
async function post({ ingestUrl, signal }: SimulationOptions, token: string, body: string): Promise<void> {
  const request = new AbortController()
  const abort = (): void => request.abort(signal.reason)
  signal.throwIfAborted()
  signal.addEventListener('abort', abort)
  try {
    const response = await fetch(ingestUrl, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'user-agent': 'lastseen-simulator',
      },
      body,
      signal: request.signal,
    })
    const text = await response.text()
    if (response.status !== 202) throw new Error(`the server answered ${response.status}: ${text}`)
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Sends the sightings of each reader with its token, and waits until they are durable. */
async function send(options: SimulationOptions, sightings: readonly SimulatedSighting[]): Promise<void> {
  const random = new SeededRandom(sightings.length)
  const perMessage = singleFormats.has(options.format) ? 1 : maxReadsPerMessage
  for (const [reader, token] of options.tokens) {
    const own = sightings.filter((one) => one.point.reader === reader)
    for (let start = 0; start < own.length; start += perMessage) {
      const reads = own.slice(start, start + perMessage).map(({ asset, point, atMs }) => ({
        epc: asset.epc,
        mac: asset.mac,
        antenna: point.antenna,
        rssiDbm: -45 - random.below(30),
        atMs,
      }))
      await post(options, token, messages[options.format]!(reads, reader))
      options.onSent?.(reads.length)
    }
  }
}

/** Sends reads for the last days, so that there is a history. Returns the last position of each asset. */
export async function backfill(
  options: SimulationOptions,
  days: number,
  nowMs: number,
): Promise<Map<string, SitePoint>> {
  const random = new SeededRandom(options.seed + 1)
  const positions = new Map<string, SitePoint>()
  const sightings: SimulatedSighting[] = []
  for (const asset of options.site.assets) {
    let point: SitePoint | null = null
    for (let atMs = nowMs - days * 86_400_000 + random.below(36_000_000); atMs < nowMs - 120_000;) {
      point = nextPoint(random, options.site, point)
      sightings.push({ asset, point, atMs })
      atMs += 1_200_000 + random.below(4 * 3_600_000)
    }
    if (point !== null) positions.set(asset.key, point)
  }
  sightings.sort((a, b) => a.atMs - b.atMs)
  for (let start = 0; start < sightings.length; start += 2000) await send(options, sightings.slice(start, start + 2000))
  return positions
}

/** Sends reads at a constant rate until the signal is aborted. Most reads show an asset at the same location. */
export async function runLive(
  options: SimulationOptions,
  positions: Map<string, SitePoint>,
  readsPerSecond: number,
): Promise<void> {
  const random = new SeededRandom(options.seed + 2)
  while (!options.signal.aborted) {
    const started = performance.now()
    const sightings = Array.from({ length: readsPerSecond }, (): SimulatedSighting => {
      const asset = random.pick(options.site.assets)
      const current = positions.get(asset.key) ?? null
      const point = current !== null && random.next() < 0.7 ? current : nextPoint(random, options.site, current)
      positions.set(asset.key, point)
      return { asset, point, atMs: options.millis() }
    })
    await send(options, sightings)
    const pauseMs = Math.max(0, 1000 - (performance.now() - started))
    await setTimeout(pauseMs, undefined, { signal: options.signal }).catch(() => undefined)
  }
}
