/** Starts servers with an organization and runs loads on them. */
import { createDatabase, startHelper, startServer } from './environment.mjs'
import { authorization, createSession } from './requests.mjs'
import { createOrganization } from './seed.mjs'

export const startLoad = (scope, options) => scope.use(startHelper('./load-generator.mjs', options))

/** Registers an organization of a server or a baseline with a load generator. */
export const addTarget = (load, name, port, { sample, assets, antennaCount, reader }, tokens, overrides = {}) => {
  const organization = { sample, assets, antennaCount, reader }
  return load.call('addTarget', { name, port, ...organization, headers: tokens.map(authorization), ...overrides })
}

/**
 * Starts a server with one organization in a new database and registers it with the load generator. Call `refresh` before
 * every measurement: it replaces access tokens that are about to expire.
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

/** Runs loads concurrently. Throws when a request fails, because the measurement is then invalid. */
export async function measureLoads(load, loads, pace) {
  const measured = await load.call('runClosedLoop', { loads, ...pace })
  measured.results.forEach(({ failures }, index) => {
    if (Object.keys(failures).length === 0) return
    throw new Error(`failed requests at ${loads[index].target}: ${JSON.stringify(failures)}`)
  })
  return measured
}

export async function measureLoad(load, singleLoad, pace) {
  const { results } = await measureLoads(load, [singleLoad], pace)
  const { perSecond, p50Ms, p99Ms } = results[0]
  return { perSecond, p50Ms, p99Ms }
}

export const apiLoad = (target, operations, inFlight) => ({ kind: 'api', target, operations, inFlight })
export const ingestLoad = (target, kind, shape, inFlight) => ({ kind, target, shape, inFlight })
