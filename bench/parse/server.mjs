import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, stop } from '../processes.mjs'

const installMs = 5 * 60_000
const startMs = 60_000
const users = 16
const here = (name) => fileURLToPath(new URL(name, import.meta.url))

/** Parse Server is no dependency of this project: its packages come into the benchmark's own folder and go with it. */
export async function installParse(started, folder) {
  const home = join(folder, 'parse')
  mkdirSync(home)
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(here(name), join(home, name))
  const options = { cwd: home, stdio: ['ignore', 'ignore', 'inherit'], timeout: installMs }
  const child = spawn('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], options)
  const gone = once(child, 'exit')
  await started.add({ stop: () => stop(child) })
  const [code] = await gone
  if (code !== 0) throw new Error('Parse Server could not be installed')
  return home
}

const text = { type: 'String' }
const time = { type: 'Date' }
const signedIn = { requiresAuthentication: true }

/** The register as a class: only who is signed in gets at it, and nobody changes its shape from outside. */
const assetClass = {
  className: 'Asset',
  fields: {
    ...{ external_key: { ...text, required: true }, name: { ...text, required: true }, description: text },
    ...{ metadata: { type: 'Object' }, is_active: { type: 'Boolean' }, tags: { type: 'Array' } },
    ...{ valid_from: time, valid_to: time },
  },
  classLevelPermissions: {
    ...{ find: signedIn, count: signedIn, get: signedIn, create: signedIn, update: signedIn, delete: signedIn },
    addField: {},
  },
}

function settingsOf({ url, home, port, appId, restAPIKey }) {
  return {
    ...{ appId, restAPIKey, masterKey: randomBytes(24).toString('hex'), masterKeyIps: ['127.0.0.1'] },
    ...{ databaseURI: url, host: '127.0.0.1', port, mountPath: '/parse', serverURL: `http://127.0.0.1:${port}/parse` },
    ...{ allowClientClassCreation: false, enableAnonymousUsers: false, logsFolder: join(home, 'logs') },
    schema: { definitions: [assetClass], lockSchemas: true },
  }
}

/** The real program on a database of its own. Gives the headers with which each signed-in user asks. */
export async function startParse({ url, home, name }) {
  const port = await freePort()
  const keys = { appId: 'bench', restAPIKey: randomBytes(24).toString('hex') }
  const settings = join(home, `${name}.json`)
  writeFileSync(settings, JSON.stringify(settingsOf({ url, home, port, ...keys })))
  const log = openSync(join(home, `${name}.log`), 'w')
  const child = spawn(process.execPath, [join(home, 'node_modules/parse-server/bin/parse-server'), settings], {
    cwd: home,
    stdio: ['ignore', log, log],
    env: { PATH: process.env.PATH, HOME: home, NODE_ENV: 'production' },
  })
  const stopped = () => stop(child)
  try {
    await untilHealthy(child, port, keys.appId)
    const headers = { 'X-Parse-Application-Id': keys.appId, 'X-Parse-REST-API-Key': keys.restAPIKey }
    return { pid: child.pid, port, logins: await signUp(port, headers), stop: stopped }
  } catch (error) {
    await stopped()
    throw error
  }
}

async function untilHealthy(child, port, appId) {
  const until = performance.now() + startMs
  const headers = { 'X-Parse-Application-Id': appId }
  while (performance.now() < until && child.exitCode === null) {
    const response = await fetch(`http://127.0.0.1:${port}/parse/health`, { headers }).catch(() => null)
    if (response?.status === 200) return
    await sleep(100)
  }
  throw new Error('Parse Server did not start')
}

/** One user and session for each caller, as few as there can be: what it remembers of a session stays remembered. */
async function signUp(port, headers) {
  const logins = []
  for (let index = 1; index <= users; index++) {
    const response = await fetch(`http://127.0.0.1:${port}/parse/users`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ username: `caller-${index}`, password: randomBytes(12).toString('hex') }),
    })
    if (response.status !== 201) throw new Error(`Parse Server answered a sign-up with ${response.status}`)
    const all = { ...headers, 'X-Parse-Session-Token': (await response.json()).sessionToken }
    logins.push(Object.entries(all).reduce((lines, [name, value]) => `${lines}${name}: ${value}\r\n`, ''))
  }
  return logins
}
