import { existsSync, readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allRows } from '../support/backup.ts'
import { type Cluster, startCluster } from '../support/cluster.ts'
import {
  type Environment,
  type ExitResult,
  emptyDatabase,
  firstCredentials,
  launch,
  lastseen,
  newFolder,
  repository,
  serve,
  tokenFor,
  usePrograms,
  withSql,
} from '../support/process.ts'

usePrograms()

let database: Awaited<ReturnType<typeof emptyDatabase>>
let settings: Record<string, string>

beforeAll(async () => {
  database = await emptyDatabase()
  settings = { DATABASE_URL: database.url, LASTSEEN_LOG_LEVEL: 'silent' }
  await addAsset(settings)
}, 60_000)
afterAll(() => database.drop())

/** Starts the service, creates an asset and stops it. */
async function addAsset(settings: Environment): Promise<void> {
  const { program, url, send } = await serve(settings)
  const token = await tokenFor(url, firstCredentials(program.stderr))
  const json = {
    external_key: 'JACK-7',
    name: 'Pallet jack',
    tags: [{ tag_type: 'rfid', value: 'E2801160600002084A1B2C3D' }],
  }
  expect((await send('POST', '/api/v1/assets', { token, json })).status).toBe(201)
  await program.stop()
}

describe('A verified backup', { timeout: 120_000 }, () => {
  it('is restored into a temporary database, of which nothing is left', async () => {
    const [folder, temporary] = [newFolder(), newFolder()]
    const file = join(folder, 'all.backup')
    const ended = await lastseen(['backup', file, '--verify', '--json'], { ...settings, TMPDIR: temporary })
    expect([ended.code, ended.stderr]).toEqual([0, ''])
    expect(JSON.parse(ended.stdout)).toMatchObject({ file, verified: true })
    expect(readdirSync(temporary)).toEqual([])
    expect(readdirSync(folder)).toEqual(['all.backup'])
  })

  it('that cannot be verified ends with exit code 1 and is kept', async () => {
    const file = join(newFolder(), 'all.backup')
    const ended = await lastseen(['backup', file, '--verify'], { ...settings, TMPDIR: join(newFolder(), 'absent') })
    expect([ended.code, ended.stderr]).toEqual([
      1,
      expect.stringContaining(`The backup ${file} could not be verified: `),
    ])
    expect(existsSync(file)).toBe(true)
  })
})

describe('packaging/backup.sh', { timeout: 120_000 }, () => {
  const run = (folder: string, environment: Environment): Promise<ExitResult> => {
    const program = `${process.execPath} ${join(repository, 'server/bin/lastseen.mjs')}`
    const script = join(repository, 'packaging/backup.sh')
    return launch({ PROGRAM: program, ...environment }, { command: ['sh', script], args: [folder, '14'] }).ended
  }
  const age = (path: string, days: number): void => {
    const at = Date.now() / 1000 - days * 86_400
    writeFileSync(path, '')
    utimesSync(path, at, at)
  }

  it('takes a verified backup and deletes those that are older than two weeks, and only backups', async () => {
    const folder = newFolder()
    for (const [name, days] of [
      ['lastseen-old.backup', 16],
      ['lastseen-new.backup', 13],
      ['other.txt', 16],
    ] as const)
      age(join(folder, name), days)
    const ended = await run(folder, settings)
    expect(ended.code, ended.stderr).toBe(0)
    expect(ended.stdout).toContain('verified')
    expect(readdirSync(folder).sort()).toEqual([
      expect.stringMatching(/^lastseen-\d{8}T\d{6}Z\.backup$/),
      'lastseen-new.backup',
      'other.txt',
    ])
  })

  it('deletes nothing when the backup fails', async () => {
    const folder = newFolder()
    age(join(folder, 'lastseen-old.backup'), 16)
    const ended = await run(folder, { ...settings, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' })
    expect(ended.code).not.toBe(0)
    expect(readdirSync(folder)).toEqual(['lastseen-old.backup'])
  })
})

const debian = '/usr/lib/postgresql/15/bin'

/** The statements of the manual, which set up an external database. */
const setUp = (): string[] => {
  const page = readFileSync(join(repository, 'docs/operating/postgresql.md'), 'utf8')
  return /^```sql\n([^]*?)\n```$/m.exec(page)![1]!.split('\n')
}

describe.skipIf(!existsSync(join(debian, 'pg_dump')))(
  'An external database, set up as the manual says,',
  { timeout: 120_000 },
  () => {
    let cluster: Cluster
    const urlOf = (name: string, user?: string): string => {
      const url = Object.assign(new URL(cluster.url), { pathname: `/${name}` })
      if (user !== undefined) Object.assign(url, { username: user, password: 'change this password' })
      return url.href
    }
    const dumpAs = (url: string): string => {
      const file = join(newFolder(), 'lastseen.dump')
      execFileSync(join(debian, 'pg_dump'), ['--format=custom', `--file=${file}`, url], { stdio: 'pipe' })
      return file
    }

    beforeAll(async () => {
      cluster = await startCluster({ TEST_POSTGRES: '15' })
      await withSql(cluster.url, async (sql) => {
        for (const statement of setUp()) await sql.unsafe(statement)
      })
      await addAsset({ DATABASE_URL: urlOf('lastseen', 'lastseen') })
    }, 120_000)
    afterAll(() => cluster.stop())

    it('is dumped by a superuser and restored with all rows, and the service runs on the result', async () => {
      const dump = dumpAs(urlOf('lastseen'))
      await withSql(cluster.url, (sql) => sql.unsafe('create database restored owner lastseen'))
      execFileSync(join(debian, 'pg_restore'), ['--exit-on-error', `--dbname=${urlOf('restored')}`, dump])
      expect(await allRows(urlOf('restored'))).toEqual(await allRows(urlOf('lastseen')))
      const server = await serve({ DATABASE_URL: urlOf('restored', 'lastseen') })
      expect(server.program.stderr).not.toContain('First start')
      await server.program.stop()
    })

    it('is not dumped by its owner, because row level security is forced', () => {
      expect(() => dumpAs(urlOf('lastseen', 'lastseen'))).toThrow(/row-level security/)
    })
  },
)
