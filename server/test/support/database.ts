import postgres from 'postgres'
import { inject } from 'vitest'
import { distribute } from '../../src/db/distribute.ts'
import { migrate } from '../../src/db/migrate.ts'
import { makeMonths } from '../../src/db/partitions.ts'

export interface TestDatabase {
  url: string
  drop(): Promise<void>
}

const open = (url: string): postgres.Sql => postgres(url, { max: 1, onnotice: () => undefined })

/** A database of its own with the newest schema and no rows. */
export async function cloneDatabase(): Promise<TestDatabase> {
  const name = `lastseen_${process.pid}_${Math.random().toString(36).slice(2)}`
  return inject('isCitus') ? distributedDatabase(name) : clonedDatabase(name)
}

async function clonedDatabase(name: string): Promise<TestDatabase> {
  const admin = open(inject('clusterUrl'))
  for (let tries = 0; ; tries++) {
    try {
      await admin.unsafe(`create database ${name} template ${inject('templateName')}`)
      break
    } catch (error) {
      // Two files cloning at the same moment: the template counts as in use for the other one.
      if (tries === 50 || (error as { code?: string }).code !== '55006') throw error
      await new Promise((resume) => setTimeout(resume, 100))
    }
  }
  return {
    url: inDatabase(inject('clusterUrl'), name),
    async drop() {
      await admin.unsafe(`drop database if exists ${name} with (force)`)
      await admin.end({ timeout: 5 })
    },
  }
}

function inDatabase(url: string, name: string): string {
  const there = new URL(url)
  there.pathname = `/${name}`
  return there.href
}

/** A cluster's database cannot be cloned, for its shards live on other nodes: it is made anew on all of them. */
async function distributedDatabase(name: string): Promise<TestDatabase> {
  const coordinator = inject('clusterUrl')
  const admin = open(coordinator)
  const nodes = await admin<{ nodename: string; nodeport: number }[]>`
    select nodename, nodeport from pg_dist_node where groupid <> 0`.catch(() => [])
  const workers = nodes.map(({ nodename, nodeport }) => {
    const url = new URL(coordinator)
    url.hostname = nodename
    url.port = String(nodeport)
    return url.href
  })
  const everywhere = async (url: (server: string) => string, text: string): Promise<void> => {
    for (const server of [...workers, coordinator]) {
      const sql = open(url(server))
      await sql.unsafe(text)
      await sql.end({ timeout: 5 })
    }
  }
  await everywhere((server) => server, `create database ${name}`)
  await everywhere((server) => inDatabase(server, name), 'create extension citus')
  const url = inDatabase(coordinator, name)
  const sql = open(url)
  for (const { nodename, nodeport } of nodes) await sql`select citus_add_node(${nodename}, ${nodeport})`
  await sql.end({ timeout: 5 })
  await migrate(url)
  await distribute(url)
  await makeMonths(url, Date.now(), 450)
  return {
    url,
    async drop() {
      await everywhere((server) => server, `drop database if exists ${name} with (force)`)
      await admin.end({ timeout: 5 })
    },
  }
}
