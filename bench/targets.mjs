/** Servers with an organization, and the load on them. */
import { createDatabase, startHelper, startServer } from './environment.mjs'
import { authorization, createSession } from './requests.mjs'
import { createOrganization } from './seed.mjs'

export const startLoad = (scope, options) => scope.use(startHelper('./load.mjs', options))

/** Tells a load generator of an organization at a server or at its baseline. */
export const addTarget = (load, name, port, { sample, assets, antennaCount, reader }, tokens, more = {}) =>
  load.call('addTarget', {
    name,
    port,
    sample,
    assets,
    antennaCount,
    reader,
    headers: tokens.map(authorization),
    ...more,
  })

/**
 * Starts a server with one organization on a database of its own, and makes it a target of the load generator. `refresh`
 * has to be called before every measurement: it replaces access tokens that are about to expire.
 */
export async function startTarget({ scope, postgres, load }, name, { assets = 10_000, ...options }) {
  const { credentials = 1, minutesPerAsset, settings, workers, target, onTokens } = options
  const url = await createDatabase(postgres, `bench_${name}`)
  const organization = await createOrganization({ url, assets, credentials, minutesPerAsset })
  const server = await scope.use(startServer({ url, folder: postgres.folder, settings, workers }))
  const refresh = createSession(server.port, organization.credentials, async (tokens) => {
    await addTarget(load, name, server.port, organization, tokens, target)
    await onTokens?.(tokens)
  })
  return { url, organization, server, refresh }
}

/** Runs loads at the same time. A request that fails makes the measurement void. */
export async function measureLoads(load, loads, pace) {
  const measured = await load.call('run', { loads, ...pace })
  measured.results.forEach(({ failures }, index) => {
    if (Object.keys(failures).length === 0) return
    throw new Error(`failed requests at ${loads[index].target}: ${JSON.stringify(failures)}`)
  })
  return measured
}

export async function measureLoad(load, one, pace) {
  const { results } = await measureLoads(load, [one], pace)
  const { perSecond, p50Ms, p99Ms } = results[0]
  return { perSecond, p50Ms, p99Ms }
}

export const apiLoad = (target, operations, inFlight) => ({ kind: 'api', target, operations, inFlight })
export const ingestLoad = (target, kind, shape, inFlight) => ({ kind, target, shape, inFlight })
