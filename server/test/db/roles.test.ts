import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkRoles } from '../../src/db/schema/check-roles.ts'
import { type EmbeddedPostgres, acquireEmbedded } from '../../src/embedded-postgres/acquire.ts'
import { migrate } from '../../src/db/schema/migrate.ts'
import { superuserOf } from '../support/cluster.ts'

// Roles belong to a whole server, so this file uses its own server.
let folder: string
let server: EmbeddedPostgres
let admin: postgres.Sql

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lastseen-roles-'))
  server = await acquireEmbedded({ dataDir: folder, progress: () => undefined })
  await migrate(server.url)
  admin = postgres(superuserOf(server.url, folder), { max: 1, onnotice: () => undefined })
}, 120_000)

afterAll(async () => {
  await admin.end({ timeout: 5 })
  await server.release()
  await rm(folder, { recursive: true, force: true })
})

/** Breaks a rule, expects that the service detects it, and repairs it again. */
async function rejectionDetail(breach: string, mend: string, reason: string): Promise<void> {
  await admin.unsafe(breach)
  try {
    await expect(checkRoles(server.url)).rejects.toThrow(reason)
    await expect(checkRoles(server.url)).rejects.toThrow('Lastseen will not start.')
  } finally {
    await admin.unsafe(mend)
  }
  await expect(checkRoles(server.url)).resolves.toBeUndefined()
}

describe('The service starts', () => {
  it('on a database as its migrations leave it', async () => {
    await expect(checkRoles(server.url)).resolves.toBeUndefined()
  })
})

describe('The service does not start', () => {
  it.each(['lastseen_writer', 'lastseen_reader'])('while %s is a superuser', async (role) => {
    await rejectionDetail(`alter role ${role} superuser`, `alter role ${role} nosuperuser`, `${role} is a superuser`)
  })

  it.each(['lastseen_writer', 'lastseen_reader'])('while %s bypasses row level security', async (role) => {
    const reason = `${role} bypasses row level security`
    await rejectionDetail(`alter role ${role} bypassrls`, `alter role ${role} nobypassrls`, reason)
  })

  it.each(['lastseen_writer', 'lastseen_reader'])('while %s owns a table', async (role) => {
    const mend = 'alter table tags owner to postgres'
    await rejectionDetail(`alter table tags owner to ${role}`, mend, `${role} owns tables`)
  })

  it.each(['assets', 'credentials', 'organizations'])('while row level security is off for %s', async (table) => {
    const reason = `row level security is not forced on ${table}`
    const mend = `alter table ${table} enable row level security`
    await rejectionDetail(`alter table ${table} disable row level security`, mend, reason)
  })

  it('while row level security is not forced for a table’s owner', async () => {
    const mend = 'alter table locations force row level security'
    await rejectionDetail('alter table locations no force row level security', mend, 'is not forced on locations')
  })

  it('while it cannot switch to its roles', async () => {
    await admin.unsafe(`create role outsider login password 'outsider'`)
    const url = new URL(server.url)
    url.username = 'outsider'
    url.password = 'outsider'
    await expect(checkRoles(url.href)).rejects.toThrow(/permission denied to set role/)
  })

  it('and names everything that is wrong at once', async () => {
    await admin.unsafe('alter role lastseen_writer bypassrls; alter table tags disable row level security')
    const check = checkRoles(server.url)
    await expect(check).rejects.toThrow('lastseen_writer bypasses row level security')
    await expect(check).rejects.toThrow('row level security is not forced on tags')
    await admin.unsafe('alter role lastseen_writer nobypassrls; alter table tags enable row level security')
  })
})
