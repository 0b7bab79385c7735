import postgres from 'postgres'
import type { TestProject } from 'vitest/node'
import { makeMonths } from '../../src/db/partitions.ts'
import { migrate } from '../../src/db/migrate.ts'
import { startCluster } from './cluster.ts'
import { startNeighbour } from './neighbour.ts'

declare module 'vitest' {
  interface ProvidedContext {
    clusterUrl: string
    templateName: string
    /** The server has Citus, so that every database is a distributed one. */
    isCitus: boolean
    /** The second process, null where one serves alone. */
    neighbourUrl: string | null
  }
}

/** One server per run with one migrated database, which every test file clones in a moment. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startCluster()
  const templateName = `lastseen_template_${Date.now()}`
  const admin = postgres(cluster.url, { max: 1, onnotice: () => undefined })
  await admin.unsafe(`create database ${templateName}`)
  const url = new URL(cluster.url)
  url.pathname = `/${templateName}`
  await migrate(url.href)
  await makeMonths(url.href, Date.now(), 450)
  project.provide('clusterUrl', cluster.url)
  project.provide('templateName', templateName)
  const [preloaded] = await admin<{ names: string }[]>`select current_setting('shared_preload_libraries') as names`
  project.provide('isCitus', preloaded!.names.includes('citus'))
  const neighbour = process.env['TEST_PROCESSES'] === '2' ? await startNeighbour() : null
  project.provide('neighbourUrl', neighbour?.url ?? null)
  return async () => {
    await neighbour?.stop()
    await admin.unsafe(`drop database if exists ${templateName}`)
    await admin.end({ timeout: 5 })
    await cluster.stop()
  }
}
