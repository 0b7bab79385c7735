import type { TestProject } from 'vitest/node'
import { startCluster } from './cluster.ts'
import { dropDatabase, makeTemplate, serversOf } from './database.ts'
import { startNeighbour } from './neighbour.ts'

declare module 'vitest' {
  interface ProvidedContext {
    clusterUrl: string
    /** Where databases are made: one server, or all nodes of a Citus cluster, the coordinator first. */
    servers: string[]
    templateName: string
    /** The server has Citus, so that every database is a distributed one. */
    isCitus: boolean
    /** The second process, null where one serves alone. */
    neighbourUrl: string | null
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
  const neighbour = settings['TEST_PROCESSES'] === '2' ? await startNeighbour() : null
  project.provide('neighbourUrl', neighbour?.url ?? null)
  return async () => {
    await neighbour?.stop()
    await dropDatabase(servers, templateName)
    await cluster.stop()
  }
}
