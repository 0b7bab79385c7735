import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
} from 'node:fs'
import {
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import ts from 'typescript'
import { superuserOf } from '../support/cluster.ts'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { acquireEmbedded, type EmbeddedPostgres } from '../../src/embedded-postgres/acquire.ts'
import { isAlive } from '../../src/embedded-postgres/file-lock.ts'
import { readPostmaster } from '../../src/embedded-postgres/postmaster.ts'

const root = process.getuid?.() === 0
const NOBODY = 65534
const scratch = mkdtempSync(join(tmpdir(), 'lastseen-embedded-'))
chmodSync(scratch, 0o755)
const code = join(scratch, 'code')
const dataDirs: string[] = []
const children: ChildProcess[] = []

function newDataDir(parent = scratch): string {
  const dir = mkdtempSync(join(parent, 'data-'))
  chmodSync(dir, 0o755)
  dataDirs.push(dir)
  return dir
}

const packageRoot = (name: string) => {
  const entry = createRequire(import.meta.url).resolve(name)
  return entry.slice(0, entry.lastIndexOf(`node_modules/${name}/`) + `node_modules/${name}`.length)
}

/** The driver and what it depends on, and what `db/client.ts` needs for traces. */
const driverPackages = [
  '@opentelemetry/api',
  ...['pg', 'pg-connection-string', 'pg-int8', 'pg-pool', 'pg-protocol', 'pg-types', 'pgpass', 'split2', 'xtend'],
  ...['postgres-array', 'postgres-bytea', 'postgres-date', 'postgres-interval'],
]

/** Child processes run plain JavaScript, so the module is translated into a folder with the packages it needs. */
function buildCode(target: string, packages: (from: string, to: string) => void): void {
  const source = fileURLToPath(new URL('../../src/', import.meta.url))
  for (const folder of ['node_modules', 'kernel', 'db/failover', 'embedded-postgres'])
    mkdirSync(join(target, folder), { recursive: true })
  const compilerOptions: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    rewriteRelativeImportExtensions: true,
  }
  const database = [
    'client',
    'connection-errors',
    'session',
    'sql',
    'failover/health-probe',
    'failover/primary-discovery',
  ]
  const embedded = readdirSync(join(source, 'embedded-postgres'))
  for (const file of [
    'kernel/tracing.ts',
    ...database.map((name) => `db/${name}.ts`),
    ...embedded.map((name) => `embedded-postgres/${name}`),
  ]) {
    const { outputText } = ts.transpileModule(readFileSync(join(source, file), 'utf8'), { compilerOptions })
    writeFileSync(join(target, file.replace('.ts', '.js')), outputText)
  }
  writeFileSync(join(target, 'package.json'), '{"type":"module"}')
  writeFileSync(
    join(target, 'holder.js'),
    `import { acquireEmbedded } from './embedded-postgres/acquire.js'
     const say = (kind, text) => process.stdout.write(JSON.stringify([kind, text]) + '\\n')
     try {
       const held = await acquireEmbedded({ dataDir: process.argv[2], progress: (line) => say('progress', line) })
       say('url', held.url)
       process.stdin.once('data', () => held.release().then(() => process.exit(0)))
     } catch (error) {
       say('error', error.message)
       process.exit(1)
     }`,
  )
  const modules = dirname(packageRoot('embedded-postgres'))
  for (const name of driverPackages)
    cpSync(join(modules, name), join(target, 'node_modules', name), { recursive: true })
  for (const name of ['embedded-postgres', '@embedded-postgres']) {
    packages(join(modules, name), join(target, 'node_modules', name))
  }
}

/** A process that acquires the database of a directory and holds it until it releases it or is killed. */
function startHolder(dataDir: string, options: { from?: string; uid?: number } = {}) {
  const child = spawn(process.execPath, [join(options.from ?? code, 'holder.js'), dataDir], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
    cwd: '/',
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  })
  children.push(child)
  const progress: string[] = []
  const outcome = new Promise<{ url: string; error: string }>((resolve) => {
    createInterface(child.stdout).on('line', (line) => {
      const [kind, text] = JSON.parse(line) as [string, string]
      if (kind === 'progress') progress.push(text)
      else resolve({ url: '', error: '', [kind]: text })
    })
  })
  const exited = once(child, 'exit')
  return {
    progress,
    outcome,
    release: async () => {
      child.stdin.write('release\n')
      await exited
    },
    /** Kills every process that a closed terminal or an interrupt key would signal. */
    kill: async () => {
      process.kill(-(child.pid ?? 0), 'SIGKILL')
      await exited
    },
  }
}

async function acquire(dataDir: string, progress: string[] = []): Promise<EmbeddedPostgres> {
  return acquireEmbedded({ dataDir, progress: (line) => progress.push(line) })
}

async function query<T extends postgres.Row>(url: string, text: string): Promise<T[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    return [...(await sql.unsafe<T[]>(text))]
  } finally {
    await sql.end()
  }
}

const files = ['postgres', 'postgres.log', 'postgres.password', 'postgres.superuser-password']
const serverOf = (dataDir: string) => readPostmaster(join(dataDir, 'postgres'))
const failure = (dataDir: string) =>
  acquire(dataDir).then(
    () => 'no failure',
    (error: unknown) => (error as Error).message,
  )

async function removeDataDir(dir: string): Promise<void> {
  const server = await serverOf(dir)
  if (server) process.kill(server.pid, 'SIGQUIT')
  while (server && isAlive(server.pid)) await sleep(20)
  for (const name of existsSync(dir) ? readdirSync(dir) : []) {
    const path = join(dir, name)
    if (name.startsWith('postgres') && lstatSync(path).isSymbolicLink()) {
      const home = dirname(readlinkSync(path))
      if (dirname(home) === '/var/lib/lastseen') rmSync(home, { recursive: true, force: true })
    }
  }
  rmSync(dir, { recursive: true, force: true })
}

beforeAll(() => buildCode(code, symlinkSync))

afterEach(async () => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill('SIGKILL')
  for (const dir of dataDirs.splice(0)) await removeDataDir(dir)
})

afterAll(() => rmSync(scratch, { recursive: true, force: true }))

describe('starting and stopping', { timeout: 60_000 }, () => {
  test('The first start creates the database; the next start is quick and keeps the data.', async () => {
    const dataDir = newDataDir()
    const progress: string[] = []
    const first = await acquire(dataDir, progress)
    expect(progress[0]).toMatch(/^Creating the database in .*postgres \(first start only\)$/)
    expect(progress[1]).toBe(`PostgreSQL 18.4 is running on port ${new URL(first.url).port}`)
    expect(progress).toHaveLength(2)
    for (const name of ['postgres.password', 'postgres.superuser-password'])
      expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600)
    expect(new URL(first.url).hostname).toBe('127.0.0.1')
    const names = ['listen_addresses', 'unix_socket_directories', 'shared_buffers', 'max_connections', 'max_wal_size']
    names.push('fsync', 'synchronous_commit', 'TimeZone', 'log_timezone', 'jit', 'data_checksums', 'server_encoding')
    const settings = await query<{ value: string }>(
      superuserOf(first.url, dataDir),
      names.map((name) => `select current_setting('${name}') as value`).join(' union all '),
    )
    expect(settings.map((row) => row.value).join(' ')).toBe('127.0.0.1  256MB 1000 1GB on on UTC UTC off on UTF8')
    const [locale] = await query(
      first.url,
      `select datlocprovider, datlocale from pg_database where datname='lastseen'`,
    )
    expect(locale).toEqual({ datlocprovider: 'b', datlocale: 'C.UTF-8' })
    const [login] = await query(
      first.url,
      `select rolname, rolsuper or rolbypassrls or rolreplication or rolcreaterole or rolcreatedb as is_privileged
       from pg_roles where rolname = current_user`,
    )
    expect(login).toEqual({ rolname: 'lastseen', is_privileged: false })
    await expect(query(first.url.replace(/:[^:@]*@/, ':wrong@'), 'select 1')).rejects.toMatchObject({ code: '28P01' })
    await query(first.url, 'create table kept as select 42 as answer')
    await first.release()

    const began = Date.now()
    const second = await acquire(dataDir)
    expect(Date.now() - began).toBeLessThan(5_000)
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }])
    await second.release()
    expect(readdirSync(dataDir).sort()).toEqual(files)
  })

  test('The superuser has a password of its own, which only the owner of the data directory can read.', async () => {
    const dataDir = newDataDir()
    const passwordFile = join(dataDir, 'postgres.superuser-password')
    const first = await acquire(dataDir)
    const asSuperuser = superuserOf(first.url, dataDir)
    const who = 'select rolname, rolsuper from pg_roles where rolname = current_user'
    expect(await query(asSuperuser, who)).toEqual([{ rolname: 'postgres', rolsuper: true }])
    const withServicePassword = first.url.replace('//lastseen:', '//postgres:')
    await expect(query(withServicePassword, who)).rejects.toMatchObject({ code: '28P01' })
    const withoutPassword = first.url.replace(/lastseen:[^@]*@/, 'postgres@')
    await expect(query(withoutPassword, who)).rejects.toThrow(/password/i)
    const mode = statSync(passwordFile).mode & 0o777
    expect(mode).toBe(0o600)
    await first.release()

    // Without the file, as in a database of an earlier version, the next start sets another password.
    rmSync(passwordFile)
    const second = await acquire(dataDir)
    const old = new URL(asSuperuser)
    old.port = new URL(second.url).port
    await expect(query(old.href, who)).rejects.toMatchObject({ code: '28P01' })
    expect(await query(superuserOf(second.url, dataDir), who)).toEqual([{ rolname: 'postgres', rolsuper: true }])
    await second.release()
  })

  test('The server runs until its last holder releases it.', async () => {
    const dataDir = newDataDir()
    const first = await acquire(dataDir)
    const progress: string[] = []
    const second = await acquire(dataDir, progress)
    const pid = (await serverOf(dataDir))?.pid ?? 0
    expect(second.url).toBe(first.url)
    expect(progress).toEqual([])
    await first.release()
    await first.release()
    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }])
    await second.release()
    expect(isAlive(pid)).toBe(false)
    expect(await serverOf(dataDir)).toBeUndefined()
    expect(readFileSync(join(dataDir, 'postgres.log'), 'utf8')).toContain('received fast shutdown request')
  })

  test('Processes that start at once on an empty directory share one server.', async () => {
    const dataDir = newDataDir()
    const holders = [startHolder(dataDir), startHolder(dataDir)]
    const progress: string[] = []
    const here = await Promise.all([acquire(dataDir, progress), acquire(dataDir, progress)])
    const there = await Promise.all(holders.map((holder) => holder.outcome))
    expect(new Set([...here, ...there].map((held) => held.url)).size).toBe(1)
    const lines = [...progress, ...holders.flatMap((holder) => holder.progress)]
    expect(lines.filter((line) => line.startsWith('Creating'))).toHaveLength(1)
    await Promise.all([...here, ...holders].map((held) => held.release()))
    expect(await serverOf(dataDir)).toBeUndefined()
  })

  test('A process that starts while the last holder stops the server gets a running server.', async () => {
    const dataDir = newDataDir()
    let held = await acquire(dataDir)
    for (const delay of [0, 3, 10, 30, 60]) {
      const leaving = held.release()
      await sleep(delay)
      held = await acquire(dataDir)
      await leaving
      expect(await query(held.url, 'select 1 as one')).toEqual([{ one: 1 }])
    }
    await held.release()
  })

  test('A log of more than 10 MB is rotated at the next start.', async () => {
    const dataDir = newDataDir()
    writeFileSync(join(dataDir, 'postgres.log'), '')
    truncateSync(join(dataDir, 'postgres.log'), 11 * 1024 * 1024)
    await (await acquire(dataDir)).release()
    expect(statSync(join(dataDir, 'postgres.log')).size).toBeLessThan(100_000)
    expect(statSync(join(dataDir, 'postgres.log.1')).size).toBe(11 * 1024 * 1024)
  })
})

describe('after a crash', { timeout: 60_000 }, () => {
  test('A server whose owner was killed is adopted with its data, and recovers when it is killed as well.', async () => {
    const dataDir = newDataDir()
    const owner = startHolder(dataDir)
    const { url } = await owner.outcome
    await query(url, 'create table kept as select 42 as answer')
    await owner.kill()
    const adopted = await acquire(dataDir)
    expect(adopted.url).toBe(url)
    await query(url, 'insert into kept values (43)')

    const busy = postgres(url, { max: 4, onnotice: () => {} })
    const work = Promise.allSettled([1, 2, 3, 4].map(() => busy`select pg_sleep(60)`))
    await sleep(100)
    process.kill((await serverOf(dataDir))?.pid ?? 0, 'SIGKILL')
    const recovered = await acquire(dataDir)
    expect(await query(recovered.url, 'select answer from kept order by 1')).toEqual([{ answer: 42 }, { answer: 43 }])
    await work
    await busy.end({ timeout: 1 })
    await adopted.release()
    await recovered.release()
    expect(await serverOf(dataDir)).toBeUndefined()
  })

  test('A holder keeps its lease when the server drops all connections, and its release still stops the server.', async () => {
    const dataDir = newDataDir()
    const held = await acquire(dataDir)
    const claims = `select count(*)::int as n from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and granted`
    const [backend] = await query<{ pid: number }>(
      held.url,
      `select pid from pg_stat_activity where pid <>
      pg_backend_pid() and application_name = 'lastseen lease'`,
    )
    process.kill(backend?.pid ?? 0, 'SIGKILL')
    await expect.poll(() => query(held.url, claims).catch(() => []), { timeout: 10_000 }).toEqual([{ n: 1 }])
    await (await acquire(dataDir)).release()
    expect(await query(held.url, 'select 1 as one')).toEqual([{ one: 1 }])
    await held.release()
    expect(await serverOf(dataDir)).toBeUndefined()
  })

  test('A server that crashed is restarted at the same address with its data.', async () => {
    const dataDir = newDataDir()
    const held = await acquire(dataDir)
    await query(held.url, 'create table kept (answer int); insert into kept values (42)')
    for (let turn = 0; turn < 2; turn++) {
      process.kill((await serverOf(dataDir))?.pid ?? 0, 'SIGKILL')
      const answer = () => query(held.url, 'select answer from kept').catch(() => [])
      await expect.poll(answer, { timeout: 20_000 }).toEqual([{ answer: 42 }])
    }
    await held.release()
    expect(await serverOf(dataDir)).toBeUndefined()
  })

  test('Releasing a server that is not running any more succeeds.', async () => {
    const dataDir = newDataDir()
    const held = await acquire(dataDir)
    process.kill((await serverOf(dataDir))?.pid ?? 0, 'SIGKILL')
    await held.release()
  })

  test('An initialization that was killed is repeated from the start.', async () => {
    const dataDir = newDataDir()
    const halfMade = () => readdirSync(dataDir).filter((name) => name.startsWith('postgres.init-'))
    const owner = startHolder(dataDir)
    while (!halfMade().some((name) => existsSync(join(dataDir, name, 'PG_VERSION')))) await sleep(5)
    await owner.kill()
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false)
    expect(existsSync(join(dataDir, 'postgres.lock'))).toBe(true)
    const held = await acquire(dataDir)
    expect(await query(held.url, 'select current_database() as name')).toEqual([{ name: 'lastseen' }])
    await held.release()
    expect(readdirSync(dataDir).sort()).toEqual(files)
  })
})

describe.skipIf(!root)('as root', { timeout: 60_000 }, () => {
  const closedFolder = () => {
    const folder = mkdtempSync(join(scratch, 'closed-'))
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    return folder
  }

  test('The server runs as an unprivileged user who owns the files.', async () => {
    const dataDir = newDataDir()
    const held = await acquire(dataDir)
    const owner = statSync(join(dataDir, 'postgres')).uid
    expect(owner).not.toBe(0)
    expect(statSync(`/proc/${(await serverOf(dataDir))?.pid}`).uid).toBe(owner)
    await held.release()
  })

  test('Files under a folder that this user cannot enter are kept elsewhere, with a link in the data directory.', async () => {
    const dataDir = newDataDir(closedFolder())
    const progress: string[] = []
    const first = await acquire(dataDir, progress)
    const files = readlinkSync(join(dataDir, 'postgres'))
    expect(files).toMatch(/^\/var\/lib\/lastseen\/[0-9a-f]+\/postgres$/)
    expect(progress.filter((line) => line.endsWith(`the database files are kept in ${files}`))).toHaveLength(1)
    await query(first.url, 'create table kept as select 42 as answer')
    await first.release()
    const second = await acquire(dataDir)
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }])
    await second.release()

    rmSync(dirname(files), { recursive: true })
    expect(await failure(dataDir)).toContain(`points to ${files}, which is missing or empty`)
  })

  test('Binaries under a folder that this user cannot enter are copied once, and again after an update.', async () => {
    const folder = closedFolder()
    buildCode(folder, (from, to) => cpSync(from, to, { recursive: true, verbatimSymlinks: true }))
    const dataDir = newDataDir(folder)
    const copying = expect.stringMatching(/^Copying the PostgreSQL programs to \/var\/lib\/lastseen\//)
    const start = async () => {
      const holder = startHolder(dataDir, { from: folder })
      expect((await holder.outcome).error).toBe('')
      await holder.release()
      return holder.progress
    }
    expect(await start()).toContainEqual(copying)
    const copied = join(dirname(readlinkSync(join(dataDir, 'postgres'))), 'pgsql')
    expect(realpathSync(join(copied, 'bin/postgres'))).toMatch(/^\/var\/lib\/lastseen\//)
    expect(await start()).not.toContainEqual(copying)
    writeFileSync(join(copied, 'VERSION'), 'an older one')
    expect(await start()).toContainEqual(copying)
    expect(await start()).not.toContainEqual(copying)
  })
})

const nodeIsClosed = root && spawnSync(process.execPath, ['--version'], { uid: NOBODY, cwd: '/' }).status !== 0

describe.skipIf(nodeIsClosed)('as an ordinary user', { timeout: 60_000 }, () => {
  test('All files are in the data directory, even when the installed binaries are incomplete.', async () => {
    const installed = mkdtempSync(join(scratch, 'installed-'))
    buildCode(installed, (from, to) => cpSync(from, to, { recursive: true, verbatimSymlinks: true }))
    const [target = ''] = readdirSync(join(installed, 'node_modules/@embedded-postgres'))
    const native = join(installed, 'node_modules/@embedded-postgres', target, 'native')
    const lib = join(native, 'lib')
    for (const name of readdirSync(lib)) if (lstatSync(join(lib, name)).isSymbolicLink()) rmSync(join(lib, name))
    chmodSync(installed, 0o755)
    chmodSync(lib, 0o555)
    const dataDir = newDataDir()
    if (root) chownSync(dataDir, NOBODY, NOBODY)
    const holder = startHolder(dataDir, root ? { from: installed, uid: NOBODY } : { from: installed })
    expect((await holder.outcome).error).toBe('')
    await holder.release()
    chmodSync(lib, 0o755)
    expect(lstatSync(join(dataDir, 'postgres')).isDirectory()).toBe(true)
    expect(readdirSync(dataDir).sort()).toEqual(['pgsql', ...files])
    if (!root) return
    const held = await acquire(dataDir)
    expect(statSync(`/proc/${(await serverOf(dataDir))?.pid}`).uid).toBe(NOBODY)
    await held.release()
  })
})

describe('a data directory that cannot be used', { timeout: 60_000 }, () => {
  test('A file in place of the directory is named in the message.', async () => {
    const file = join(scratch, 'file')
    writeFileSync(file, '')
    expect(await failure(file)).toBe(`The data directory ${file} is not a directory: there is a file in its place.`)
    expect(await failure(join(file, 'data'))).toContain('is not a directory')
  })

  test.skipIf(nodeIsClosed)('A directory without write access is named in the message.', async () => {
    const dataDir = newDataDir()
    chmodSync(dataDir, 0o555)
    const { error } = await startHolder(dataDir, root ? { uid: NOBODY } : {}).outcome
    expect(error).toContain(`The data directory ${dataDir} is not writable (EACCES). Give the user`)
    chmodSync(dataDir, 0o755)
  })

  test('A folder that is not a database, or a database of another version, is left unchanged.', async () => {
    const dataDir = newDataDir()
    const files = join(dataDir, 'postgres')
    mkdirSync(files)
    writeFileSync(join(files, 'notes.txt'), '')
    expect(await failure(dataDir)).toContain('is not empty and does not hold a PostgreSQL database')
    writeFileSync(join(dataDir, 'postgres.password'), 'secret')
    writeFileSync(join(files, 'PG_VERSION'), '17\n')
    expect(await failure(dataDir)).toContain('was made by PostgreSQL 17; this Lastseen runs PostgreSQL 18.')
    expect(readdirSync(files).sort()).toEqual(['PG_VERSION', 'notes.txt'])
  })

  test('A missing password file is named, and a server that does not start is reported with its log.', async () => {
    const dataDir = newDataDir()
    await (await acquire(dataDir)).release()
    renameSync(join(dataDir, 'postgres.password'), join(dataDir, 'moved'))
    expect(await failure(dataDir)).toContain('Put the file back')
    renameSync(join(dataDir, 'moved'), join(dataDir, 'postgres.password'))
    rmSync(join(dataDir, 'postgres/global/pg_control'))
    expect(await failure(dataDir)).toMatch(/could not be started in [^]*The last lines of [^]*pg_control/)
  })
})
