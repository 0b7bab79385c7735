import { execFileSync } from 'node:child_process'
import { chownSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Authority } from '../support/certificates.ts'
import { type Cluster, startCluster } from '../support/cluster.ts'
import { lacks } from '../support/packaging.ts'
import { launch, repository, serve, usePrograms, withSql } from '../support/process.ts'

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

  it('is reached over TLS with sslmode=verify-full, and not at all if another authority signed its certificate', async () => {
    const [authority, other] = [new Authority(), new Authority()]
    const { key, cert } = authority.issue('DNS:localhost')
    await withSql(cluster.url, async (sql) => {
      const [{ data_directory: folder }] = (await sql`show data_directory`) as unknown as [{ data_directory: string }]
      const { uid, gid } = statSync(folder)
      for (const [name, text] of [
        ['tls.crt', cert],
        ['tls.key', key],
      ] as const) {
        writeFileSync(join(folder, name), text, { mode: 0o600 })
        chownSync(join(folder, name), uid, gid)
      }
      await sql`alter system set ssl_cert_file = 'tls.crt'`
      await sql`alter system set ssl_key_file = 'tls.key'`
      await sql`alter system set ssl = on`
      await sql`select pg_reload_conf()`
    })
    const urlWith = ({ caFile }: Authority): string => {
      const url = Object.assign(new URL(cluster.url), {
        username: 'lastseen',
        hostname: 'localhost',
        pathname: '/lastseen',
      })
      url.search = new URLSearchParams({ sslmode: 'verify-full', sslrootcert: caFile }).toString()
      return url.href
    }
    const server = await serve({ DATABASE_URL: urlWith(authority) })
    const connections = await withSql(
      cluster.url,
      (sql) => sql`select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid) where usename = 'lastseen'`,
    )
    expect([...connections]).toEqual([{ ssl: true }])
    expect(await server.program.stop()).toMatchObject({ code: 0 })
    const refused = await launch({ DATABASE_URL: urlWith(other) }, { args: ['migrate'] }).ended
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('certificate') as string })
    for (const one of [authority, other]) one.remove()
  }, 120_000)
})
