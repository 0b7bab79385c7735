import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../support/cluster.ts'
import { lacks } from '../support/packaging.ts'
import { repository, serve, usePrograms, withSql } from '../support/process.ts'

const psql = '/usr/lib/postgresql/15/bin/psql'

describe.skipIf(lacks(psql))('A PostgreSQL that packaging/postgres.sql has set up', () => {
  usePrograms()
  let cluster: Cluster

  beforeAll(async () => {
    cluster = await startCluster({ TEST_POSTGRES: '15' })
    // The image of PostgreSQL runs the files of /docker-entrypoint-initdb.d with these flags.
    const flags = ['--set=ON_ERROR_STOP=1', '--no-password', '--no-psqlrc']
    execFileSync(psql, [...flags, `--file=${join(repository, 'packaging/postgres.sql')}`, cluster.url], {
      env: { ...process.env, DATABASE_PASSWORD: "a password with a ' quote" },
    })
  }, 120_000)
  afterAll(() => cluster.stop())

  it('runs the service as a role with a password that is not a superuser', async () => {
    const url = Object.assign(new URL(cluster.url), { username: 'lastseen', pathname: '/lastseen' }).href
    const server = await serve({ DATABASE_URL: url })
    expect((await server.send('GET', '/readyz')).status).toBe(200)
    expect(await server.program.stop()).toMatchObject({ code: 0 })
    const roles = await withSql(
      cluster.url,
      (sql) => sql`select rolname as name, rolsuper or rolbypassrls or rolcreaterole as "isPrivileged",
        rolpassword is not null as "hasPassword" from pg_authid where rolname like 'lastseen%' order by 1`,
    )
    expect([...roles]).toEqual([
      { name: 'lastseen', isPrivileged: false, hasPassword: true },
      { name: 'lastseen_reader', isPrivileged: false, hasPassword: false },
      { name: 'lastseen_writer', isPrivileged: false, hasPassword: false },
    ])
  }, 60_000)
})
