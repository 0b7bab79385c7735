import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../server/dist/config/config.js'
import { connect, openPool } from '../server/dist/db/connect.js'
import { acquireEmbedded } from '../server/dist/db/embedded/acquire.js'
import { IdSource } from '../server/dist/db/id-source.js'
import { installationKeys } from '../server/dist/db/installation.js'
import { systemClock } from '../server/dist/kernel/clock.js'
import { createLocation } from '../server/dist/locations/commands.js'
import { parentOf, runCommand } from './processes.mjs'
import { seedAssets, seedWhereabouts } from './seed.mjs'

const sampleSize = 20_000
const placeCount = 50
const antennaCount = 8
const freshForMs = 7 * 60_000

/** The embedded PostgreSQL with its ordinary settings, in a folder that is gone afterwards. */
export async function startPostgres() {
  const folder = mkdtempSync(join(tmpdir(), 'lastseen-bench-'))
  // PostgreSQL may run under an account of its own, which has to reach its files.
  chmodSync(folder, 0o755)
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  try {
    const server = await acquireEmbedded({ dataDir: join(folder, 'data'), progress: () => undefined })
    return {
      folder,
      url: server.url,
      async stop() {
        await server.release()
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}

export async function versionOf(url) {
  const pool = openPool(url, 1)
  try {
    const [{ version }] = await pool`select current_setting('server_version') as version`
    return version
  } finally {
    await pool.end({ timeout: 5 })
  }
}

/** The process that all others of the database server descend from. */
export async function postmasterOf(url) {
  const pool = openPool(url, 1)
  try {
    const [{ pid }] = await pool`select pg_backend_pid() as pid`
    return parentOf(pid)
  } finally {
    await pool.end({ timeout: 5 })
  }
}

export async function makeDatabase(serverUrl, name) {
  const pool = openPool(serverUrl, 1)
  await pool.unsafe(`create database ${name}`)
  await pool.end({ timeout: 5 })
  return urlOf(serverUrl, name)
}

/** The same database once more, ids and all. */
export async function copyDatabase(serverUrl, from, name) {
  const pool = openPool(serverUrl, 1)
  await pool.unsafe(`create database ${name} template ${from} strategy file_copy`)
  await pool.end({ timeout: 5 })
  return urlOf(serverUrl, name)
}

function urlOf(serverUrl, name) {
  const address = new URL(serverUrl)
  address.pathname = `/${name}`
  return address.href
}

/** What one part left behind takes neither disk nor the time of the next. */
export async function dropDatabases(serverUrl) {
  const pool = openPool(serverUrl, 1)
  try {
    const left = await pool`select datname from pg_database where datname like 'bench\\_%'`
    for (const { datname } of left) await pool.unsafe(`drop database ${datname} with (force)`)
  } finally {
    await pool.end({ timeout: 5 })
  }
}

/** Ids are made by the service's own source, so they are as scattered as real ones. */
async function withNeeds(url, work) {
  const db = connect({ url, poolSize: 1 })
  try {
    const { idKey } = await installationKeys(db)
    return await work({ db, clock: systemClock, ids: new IdSource(db, idKey) })
  } finally {
    await db.close()
  }
}

async function makePlaces(needs, orgId, count) {
  const draft = (index) => ({ externalKey: `PLACE-${index}`, name: `Place ${index}`, description: null, tags: [] })
  const places = []
  for (let index = 1; index <= count; index++)
    places.push(await createLocation(needs, orgId, { ...draft(index), isActive: true, validTo: null, parent: {} }))
  return places
}

export function makeCredentials(url, org, count) {
  const scopes = ['--scopes', 'assets:read,assets:write,tracking:read']
  return runCommand(url, ['key', 'create', '--org', org, '--name', 'bench', ...scopes, '--count', String(count)])
}

/** A database of its own per size: one organization, its assets, and enough credentials that no bucket runs dry. */
export async function makeDataset(serverUrl, size, credentialCount, name = `bench_${size}`) {
  const url = await makeDatabase(serverUrl, name)
  const { org_id: orgId } = runCommand(url, ['org', 'create', '--name', 'Benchmark', '--init'])
  const sample = await withNeeds(url, async (needs) => {
    const places = await makePlaces(needs, orgId, placeCount)
    const found = await seedAssets({ url, orgId, ids: needs.ids, count: size, sampleSize })
    const tracked = await seedWhereabouts({ url, orgId, places, minutes: Math.max(10_000, size / 10) })
    return { ...found, tracked }
  })
  const credentials = makeCredentials(url, 'Benchmark', credentialCount)
  return { name, size, url, orgId, sample, credentials, poolSize: readConfig({ DATABASE_URL: url }).databasePool }
}

/** An organization with tagged assets and one reader that has an antenna at each of its first places. */
async function addSite(url, title, assets, { sampleSize = assets, placeCount = antennaCount } = {}) {
  const { org_id: orgId } = runCommand(url, ['org', 'create', '--name', title, '--init'])
  const { sample, places } = await withNeeds(url, async (needs) => ({
    places: await makePlaces(needs, orgId, placeCount),
    sample: await seedAssets({ url, orgId, ids: needs.ids, count: assets, sampleSize }),
  }))
  const keys = places.slice(0, antennaCount).map((place) => place.externalKey)
  const antennas = keys.flatMap((key, index) => ['--antenna', `${index + 1}=${key}`])
  const reader = runCommand(url, ['reader', 'create', '--org', title, '--name', 'Gate', ...antennas])
  const gate = { tags: sample.tags, antennas: antennaCount, readerId: reader.reader_id, reader }
  return { orgId, sample, places: places.map((place) => place.id), ...gate }
}

export async function makeSite(serverUrl, name, assets, more) {
  const url = await makeDatabase(serverUrl, name)
  return { name, url, ...(await addSite(url, 'Benchmark', assets, more)) }
}

/** Several organizations in one database, each a site with credentials, by name. */
export async function makeNeighbours(serverUrl, name, { assets, credentials }) {
  const url = await makeDatabase(serverUrl, name)
  const sites = {}
  for (const [title, count] of Object.entries(credentials))
    sites[title] = { ...(await addSite(url, title, assets)), credentials: makeCredentials(url, title, count) }
  return { name, url, sites }
}

/** Access tokens as clients get them, each used once: what the service remembers of a client is there from the start. */
export async function exchangeAll(port, credentials) {
  const tokens = []
  const queue = credentials.values()
  const base = `http://127.0.0.1:${port}/api/v1`
  async function work() {
    for (const { client_id, client_secret } of queue) {
      const response = await fetch(`${base}/oauth/token`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ grant_type: 'client_credentials', client_id, client_secret }),
      })
      if (response.status !== 200) throw new Error(`a token exchange answered ${response.status}`)
      const token = (await response.json()).access_token
      const used = await fetch(`${base}/assets?limit=1`, { headers: { Authorization: `Bearer ${token}` } })
      if (used.status !== 200) throw new Error(`a token's first use answered ${used.status}`)
      await used.arrayBuffer()
      tokens.push(token)
    }
  }
  await Promise.all(Array.from({ length: 4 }, work))
  return tokens
}

/** Signs in, and again when the tokens are old. They last a quarter of an hour, and a measurement may take half of it. */
export function signingIn(port, credentials, handOut) {
  let signedInAt = -Infinity
  return async function signIn() {
    if (performance.now() - signedInAt < freshForMs) return
    await handOut(await exchangeAll(port, credentials))
    signedInAt = performance.now()
  }
}
