import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { checkRoles } from '../db/schema/check-roles.ts'
import { type Connection, createDatabase, randomName } from '../db/create-database.ts'
import { type Distribution, distribute, isDistributed } from '../db/citus/distribute.ts'
import { acquireEmbedded } from '../embedded-postgres/acquire.ts'
import { parseHosts } from '../db/failover/primary-discovery.ts'
import { IdGenerator } from '../db/id-generator.ts'
import { type InstallationKeys, KeyStore } from '../db/installation.ts'
import { migrate } from '../db/schema/migrate.ts'
import { makeMonths } from '../db/schema/partitions.ts'
import { checkConnection } from '../db/check-connection.ts'
import { schemaExists } from '../db/schema/schema-exists.ts'
import type { Sql } from '../db/sql.ts'
import { PubSub } from '../db/pubsub.ts'
import { type Clock, systemClock } from '../kernel/clock.ts'
import { type QuotaLimits, Quotas } from '../organizations/quotas.ts'
import { baseDir } from './installation.ts'

/** The data directory of the embedded database, or null with an external database. */
export const dataDirOf = (config: Config): string | null =>
  config.databaseUrl === null ? resolve(baseDir, config.dataDir) : null

/** An embedded or external database that is running and reachable. */
export interface DatabaseHandle {
  url: string
  release(): Promise<void>
}

export interface OpenOptions {
  progress: (line: string) => void
  /** Whether to create the embedded database if it does not exist. */
  mayCreate: boolean
}

export async function openDatabase(config: Config, { progress, mayCreate }: OpenOptions): Promise<DatabaseHandle> {
  const dataDir = dataDirOf(config)
  if (dataDir !== null) return acquireEmbedded({ dataDir, progress, mayCreate })
  const url = config.databaseUrl!
  await checkConnection(url)
  return { url, release: async () => undefined }
}

/** Throws if the database has no Lastseen schema. */
export async function requireSchema(config: Config, url: string): Promise<void> {
  if (await schemaExists(url)) return
  const dataDir = dataDirOf(config)
  throw new Error(
    dataDir === null
      ? 'no Lastseen schema in the database of DATABASE_URL; is it the right one? "lastseen migrate" creates the schema'
      : `no Lastseen schema in ${dataDir}; "lastseen migrate" creates it`,
  )
}

/** Migrates the schema and checks tenant isolation, once per start. Returns the number of migrations applied. */
export async function prepareDatabase(config: Config, url: string, progress: (line: string) => void): Promise<number> {
  const migrations = await migrateSchema(config, url, progress)
  await checkRoles(url)
  return migrations
}

async function migrateSchema(config: Config, url: string, progress: (line: string) => void): Promise<number> {
  const { length } = await migrate(url)
  if (length > 0)
    progress(`Database schema brought up to date (${length} ${length === 1 ? 'migration' : 'migrations'})`)
  // In a cluster, new tables must be distributed before rows are written to them.
  if (length > 0 && (await isDistributed(url))) await distribute(url)
  await makeMonths(url, systemClock.millis(), config.retentionDays)
  return length
}

/** Distributes the tables over a Citus cluster. */
export async function distributeDatabase(config: Config, options: OpenOptions): Promise<Distribution> {
  const { progress, mayCreate } = options
  const database = await openDatabase(config, options)
  try {
    if (!mayCreate) await requireSchema(config, database.url)
    await migrateSchema(config, database.url, progress)
    const distribution = await distribute(database.url)
    await checkRoles(database.url)
    return distribution
  } finally {
    await database.release()
  }
}

/** The services that every part of the program uses. */
export interface AppContext {
  config: Config
  /** The URL of the database, for parts that need a dedicated connection. */
  url: string
  db: Connection
  /** A name that all processes of one start of the program share. */
  instanceGroup: string
  clock: Clock
  ids: IdGenerator
  quotas: Quotas
  pubsub: PubSub
  environment: Config['environment']
  keyStore: KeyStore
  keys: InstallationKeys
  close(): Promise<void>
}

const quotaLimits = (config: Config): QuotaLimits => ({
  assets: config.quotaAssets,
  locations: config.quotaLocations,
  readers: config.quotaReaders,
  members: config.quotaMembers,
  api_keys: config.quotaApiKeys,
  imports: config.quotaImports,
  stored_bytes: config.quotaStoredBytes,
  live_streams: config.liveStreamsPerOrg,
  query_seconds: config.quotaQuerySeconds,
})

export interface AppContextOptions {
  config: Config
  url: string
  /** The group of a worker process. A single process gets a group of its own. */
  instanceGroup?: string | undefined
  clock?: Clock
  onStatement?: (statement: Sql) => void
}

export async function openAppContext({
  config,
  url,
  clock = systemClock,
  onStatement,
  ...options
}: AppContextOptions): Promise<AppContext> {
  await parseHosts(url).find()
  const instanceGroup = options.instanceGroup ?? randomName()
  const db = createDatabase({
    url,
    instanceGroup,
    poolSize: config.databasePool,
    replicaUrl: config.replicaUrl ?? undefined,
    ...(onStatement === undefined ? {} : { onStatement }),
    queryTime: {
      assertLeft: (orgId) => quotas.queryTime.assertLeft(orgId),
      measure: (orgId, work) => quotas.queryTime.measure(orgId, work),
    },
  })
  const quotas = new Quotas(db, quotaLimits(config))
  const keyStore = new KeyStore(config.masterKey)
  const keys = await keyStore.open(db).catch(async (error: unknown) => {
    await db.close()
    throw error
  })
  const pubsub = new PubSub(db, () => performance.now())
  return {
    config,
    url,
    db,
    instanceGroup,
    clock,
    ids: new IdGenerator(db, keys.idKey),
    quotas,
    pubsub,
    environment: config.environment,
    keyStore,
    keys,
    async close() {
      await pubsub.stop()
      await db.close()
    },
  }
}
