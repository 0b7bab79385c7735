/** Installs Parse Server into the benchmark's folder and runs it with the same assets in its own PostgreSQL database. */
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, stopProcess, withClient } from '../environment.mjs'
import { assetRows } from '../seed.mjs'

const startTimeoutMs = 60_000
const userCount = 16
const here = (name) => fileURLToPath(new URL(name, import.meta.url))

/** Installs Parse Server at run time, because it is not a dependency of this project. */
export function installParse(folder) {
  const home = join(folder, 'parse')
  mkdirSync(home)
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(here(name), join(home, name))
  const flags = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  execFileSync('npm', flags, { cwd: home, stdio: ['ignore', 'ignore', 'inherit'] })
  return home
}

const text = { type: 'String' }
const date = { type: 'Date' }
const signedIn = { requiresAuthentication: true }
const reads = { find: signedIn, count: signedIn, get: signedIn }
const assetClass = {
  className: 'Asset',
  fields: {
    external_key: { ...text, required: true },
    name: { ...text, required: true },
    description: text,
    metadata: { type: 'Object' },
    is_active: { type: 'Boolean' },
    tags: { type: 'Array' },
    valid_from: date,
    valid_to: date,
  },
  classLevelPermissions: { ...reads, create: signedIn, update: signedIn, addField: {} },
}

/** Starts the program and returns the headers of each signed-in user. */
export async function startParse({ url, home }) {
  const port = await freePort()
  const [appId, restAPIKey, masterKey] = ['bench', randomBytes(24).toString('hex'), randomBytes(24).toString('hex')]
  const serverURL = `http://127.0.0.1:${port}/parse`
  const settings = {
    appId,
    restAPIKey,
    masterKey,
    masterKeyIps: ['127.0.0.1'],
    databaseURI: url,
    host: '127.0.0.1',
    port,
    mountPath: '/parse',
    serverURL,
    logsFolder: join(home, 'logs'),
    allowClientClassCreation: false,
    enableAnonymousUsers: false,
    schema: { definitions: [assetClass], lockSchemas: true },
  }
  const file = join(home, 'settings.json')
  writeFileSync(file, JSON.stringify(settings))
  const log = openSync(join(home, 'parse.log'), 'a')
  const env = { PATH: process.env.PATH, HOME: home, NODE_ENV: 'production' }
  const options = { cwd: home, stdio: ['ignore', log, log], env, detached: true }
  const child = spawn(process.execPath, [join(home, 'node_modules/parse-server/bin/parse-server'), file], options)
  const stop = () => stopProcess(child)
  const headers = { 'X-Parse-Application-Id': appId, 'X-Parse-REST-API-Key': restAPIKey }
  try {
    await waitUntilHealthy(child, serverURL, headers)
    return { port, headers: await signUp(serverURL, headers), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function waitUntilHealthy(child, serverURL, headers) {
  const until = performance.now() + startTimeoutMs
  while (performance.now() < until && child.exitCode === null) {
    const response = await fetch(`${serverURL}/health`, { headers }).catch(() => null)
    if (response?.status === 200) return
    await sleep(100)
  }
  throw new Error('Parse Server did not start')
}

/** Signs up a few users, whose sessions Parse Server caches. */
async function signUp(serverURL, headers) {
  const all = []
  for (let index = 1; index <= userCount; index++) {
    const response = await fetch(`${serverURL}/users`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ username: `user-${index}`, password: randomBytes(12).toString('hex') }),
    })
    if (response.status !== 201) throw new Error(`Parse Server answered a sign-up with ${response.status}`)
    const session = { ...headers, 'X-Parse-Session-Token': (await response.json()).sessionToken }
    all.push(Object.entries(session).reduce((lines, [name, value]) => `${lines}${name}: ${value}\r\n`, ''))
  }
  return all
}

const objectId = `substr(md5(n::text), 1, 4) || lpad(to_hex(n), 6, '0')`

/** Inserts the assets that are valid now and creates the usual indexes. Returns the ids in the order of `numbers`. */
export const seedParse = (url, assets, numbers) =>
  withClient(url, async (client) => {
    await client.query(`
      insert into "Asset" ("objectId", "createdAt", "updatedAt", external_key, name, description, metadata, is_active,
        valid_from, valid_to, tags)
      select ${objectId}, created_at, updated_at, external_key, name, description, metadata, is_active, valid_from,
        valid_to, jsonb_build_array(jsonb_build_object('tag_type', 'rfid', 'value', tag))
      from (${assetRows(assets)}) a
      where deleted_at is null and valid_from <= now() and (valid_to is null or valid_to > now())`)
    for (const statement of [
      'create extension if not exists pg_trgm',
      'create unique index asset_key on "Asset" (external_key)',
      'create index asset_search on "Asset" using gin (name gin_trgm_ops)',
      'vacuum analyze',
    ])
      await client.query(statement)
    const { rows } = await client.query(
      `select ${objectId} as id from unnest($1::bigint[]) with ordinality u (n, position) order by position`,
      [numbers],
    )
    return rows.map(({ id }) => id)
  })
