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

/** One server per project with one migrated database, which every test file clones in a moment. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const settings = { ...process.env, ...project.config.env }
  const cluster = await startCluster(settings)
  const templateName = `lastseen_template_${Date.now()}_${project.name}`
  const servers = await serversOf(cluster.url)
  const isCitus = servers.length > 1
  await makeTemplate(servers, isCitus, templateName)
  project.provide('clusterUrl', cluster.url)
  project.provide('servers', servers)
  project.provide('templateName', templateName)
  project.provide('isCitus', isCitus)
  const secondProcess = settings['TEST_PROCESSES'] === '2' ? await startSecondProcess() : null
  project.provide('secondProcessUrl', secondProcess?.url ?? null)
  return async () => {
    await secondProcess?.stop()
    await dropDatabase(servers, templateName)
    await cluster.stop()
  }
}
