import { readerChangedTopic } from '../readers/commands.ts'
import { antennaFormats } from '../simulator/messages.ts'
import { type SimulationOptions, runLive, backfill } from '../simulator/simulation.ts'
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

/** Simulates a warehouse over HTTP ingress: creates its records, backfills the last days, then continues live. */
export async function simulate(
  context: AppContext,
  options: SimulateOptions,
  say: (line: string) => void,
  shutdownSignal: AbortSignal,
): Promise<{ reads: number }> {
  const { orgId, name } = await organizationNamed(context, options.org)
  const site = buildSite(options.seed, options.assets, antennaFormats.has(options.format))
  say(`Creating ${site.locations.length} locations and ${site.assets.length} assets in ${name} …`)
  const tokens = await provisionSite(context, orgId, site, options.format)
  await context.pubsub.publishAndWait(readerChangedTopic, '')
  let reads = 0
  // AbortSignal.any is not used here: the combined signal may be garbage-collected before it is aborted.
  const end = new AbortController()
  const abort = (): void => end.abort()
  shutdownSignal.addEventListener('abort', abort, { once: true })
  const simulation: SimulationOptions = {
    site,
    tokens,
    ingestUrl: `${options.url}/ingest/v1/reads`,
    format: options.format,
    seed: options.seed,
    signal: shutdownSignal,
    millis: () => context.clock.millis(),
    onSent: (count) => (reads += count),
  }
  say(`Backfilling the last ${options.days} days …`)
  const positions = await backfill(simulation, options.days, context.clock.millis())
  say(`${reads} reads sent. Continuing live with ${options.rate} reads per second.`)
  const timer = options.seconds === null ? undefined : setTimeout(abort, options.seconds * 1000)
  await runLive({ ...simulation, signal: end.signal }, positions, options.rate)
    .catch((error: unknown) => {
      if (!end.signal.aborted) throw error
    })
    .finally(() => clearTimeout(timer))
  return { reads }
}
