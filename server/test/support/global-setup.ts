import type { TestProject } from 'vitest/node'
import { startCluster } from './cluster.ts'
import { dropDatabase, makeTemplate, serversOf } from './database.ts'
import { startSecondProcess } from './second-process.ts'

declare module 'vitest' {
  interface ProvidedContext {
    clusterUrl: string
    /** The servers on which databases are created: one server, or all nodes of a Citus cluster, the coordinator first. */
    servers: string[]
    templateName: string
    /** Whether the server has Citus; then every database is distributed. */
    isCitus: boolean
    /** The control URL of the second process, or null in runs with one process. */
    secondProcessUrl: string | null
  }
}

/** Starts one PostgreSQL server per run with one migrated template database, which every test file clones. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startCluster()
  const templateName = `lastseen_template_${Date.now()}`
  const servers = await serversOf(cluster.url)
  const isCitus = servers.length > 1
  await makeTemplate(servers, isCitus, templateName)
  project.provide('clusterUrl', cluster.url)
  project.provide('servers', servers)
  project.provide('templateName', templateName)
  project.provide('isCitus', isCitus)
  const secondProcess = process.env['TEST_PROCESSES'] === '2' ? await startSecondProcess() : null
  project.provide('secondProcessUrl', secondProcess?.url ?? null)
  return async () => {
    await secondProcess?.stop()
    await dropDatabase(servers, templateName)
    await cluster.stop()
  }
}
