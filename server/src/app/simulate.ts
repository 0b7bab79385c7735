import { readerChangedTopic } from '../readers/commands.ts'
import { antennaFormats } from '../simulator/messages.ts'
import { type PlayOptions, runLive, backfill } from '../simulator/simulation.ts'
import { buildSite } from '../simulator/site.ts'
import { provisionSite } from '../simulator/warehouse.ts'
import type { AppContext } from './context.ts'
import { organizationNamed } from './operator.ts'

export interface SimulateOptions {
  org: string
  url: string
  assets: number
  rate: number
  days: number
  seconds: number | null
  format: string
  seed: number
}

/** Plays a warehouse through the real way in: sets it up, fills in the last days, then goes on live. */
export async function simulate(
  context: AppContext,
  options: SimulateOptions,
  say: (line: string) => void,
  asked: AbortSignal,
): Promise<{ reads: number }> {
  const { orgId, name } = await organizationNamed(context, options.org)
  const site = buildSite(options.seed, options.assets, antennaFormats.has(options.format))
  say(`Setting up ${site.places.length} places and ${site.assets.length} assets in ${name} …`)
  const tokens = await provisionSite(context, orgId, site, options.format)
  await context.pubsub.publishAndWait(readerChangedTopic, '')
  let reads = 0
  // Counted by a timer that is held here: a signal put together of others may be collected before it fires.
  const over = new AbortController()
  const end = (): void => over.abort()
  asked.addEventListener('abort', end, { once: true })
  const play: PlayOptions = {
    site,
    tokens,
    ingestUrl: `${options.url}/ingest/v1/reads`,
    format: options.format,
    seed: options.seed,
    signal: asked,
    millis: () => context.clock.millis(),
    onSent: (count) => (reads += count),
  }
  say(`Filling in the last ${options.days} days …`)
  const places = await backfill(play, options.days, context.clock.millis())
  say(`${reads} reads sent. Things are moving now, ${options.rate} reads a second.`)
  const timer = options.seconds === null ? undefined : setTimeout(end, options.seconds * 1000)
  await runLive({ ...play, signal: over.signal }, places, options.rate)
    .catch((error: unknown) => {
      if (!over.signal.aborted) throw error
    })
    .finally(() => clearTimeout(timer))
  return { reads }
}
