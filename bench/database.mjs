import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../server/dist/config/config.js'
import { connect, openPool } from '../server/dist/db/connect.js'
import { acquireEmbedded } from '../server/dist/db/embedded/acquire.js'
import { IdSource } from '../server/dist/db/id-source.js'
import { installationKeys } from '../server/dist/db/installation.js'
import { runCommand } from './processes.mjs'
import { seedAssets } from './seed.mjs'

const sampleSize = 20_000

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

/** A database of its own per size: one organization, its assets, and enough credentials that no bucket runs dry. */
export async function makeDataset(serverUrl, size, credentialCount) {
  const pool = openPool(serverUrl, 1)
  const name = `bench_${size}`
  await pool.unsafe(`create database ${name}`)
  await pool.end({ timeout: 5 })
  const address = new URL(serverUrl)
  address.pathname = `/${name}`
  const url = address.href
  const { org_id: orgId } = runCommand(url, ['org', 'create', '--name', 'Benchmark'])
  const sample = await seed(url, orgId, size)
  const scopes = ['--scopes', 'assets:read,assets:write']
  const key = ['key', 'create', '--org', 'Benchmark', '--name', 'bench', ...scopes]
  const credentials = runCommand(url, [...key, '--count', String(credentialCount)])
  return { name, size, url, orgId, sample, credentials, poolSize: readConfig({ DATABASE_URL: url }).databasePool }
}

/** Ids are made by the service's own source, so they are as scattered as real ones. */
async function seed(url, orgId, count) {
  const db = connect({ url, poolSize: 1 })
  try {
    const { idKey } = await installationKeys(db)
    return await seedAssets({ url, orgId, ids: new IdSource(db, idKey), count, sampleSize })
  } finally {
    await db.close()
  }
}

/** Access tokens as clients get them. */
export async function exchangeAll(port, credentials) {
  const tokens = []
  const queue = credentials.values()
  async function work() {
    for (const { client_id, client_secret } of queue) {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/oauth/token`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ grant_type: 'client_credentials', client_id, client_secret }),
      })
      if (response.status !== 200) throw new Error(`a token exchange answered ${response.status}`)
      tokens.push((await response.json()).access_token)
    }
  }
  await Promise.all(Array.from({ length: 4 }, work))
  return tokens
}
