import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { canUse, chooseAccount, installBinaries, run, type Account } from './binaries.ts'

/** For root: the location of the files if the PostgreSQL account cannot access the data directory. */
const STORE = '/var/lib/lastseen'
const MAJOR = '18'
/** The role that the service logs in as. */
export const loginRole = 'lastseen'

export interface DataDirectory {
  readonly dataDir: string
  readonly pgdata: string
  readonly passwordFile: string
  readonly superuserPasswordFile: string
  readonly logFile: string
  readonly lock: string
}

/** The inputs of a start. `files` is the real directory, which the account can access even if `pgdata` is a link to it. */
export interface Prepared {
  readonly account: Account
  readonly files: string
  readonly programs: string
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? ''

export function displayPath(path: string): string {
  const short = relative(process.cwd(), path)
  return process.cwd() === '/' || short === '' || short.startsWith('..') ? path : short
}

function dataDirectoryAt(directory: string): DataDirectory {
  const dataDir = resolve(directory)
  const at = (name: string) => join(dataDir, name)
  return {
    dataDir,
    pgdata: at('postgres'),
    passwordFile: at('postgres.password'),
    superuserPasswordFile: at('postgres.superuser-password'),
    logFile: at('postgres.log'),
    lock: at('postgres.lock'),
  }
}

/** Creates nothing; operator commands call this before they open the database. */
export async function hasDatabase(directory: string): Promise<boolean> {
  const dataDirectory = dataDirectoryAt(directory)
  const stats = await fs.stat(dataDirectory.dataDir).catch(() => undefined)
  return stats !== undefined && stats.isDirectory() && (await clusterExists(dataDirectory))
}

/** Creates the data directory if it is missing. Throws when it cannot hold a database. */
export async function openDataDir(directory: string): Promise<DataDirectory> {
  const dataDirectory = dataDirectoryAt(directory)
  const { dataDir } = dataDirectory
  try {
    await fs.mkdir(dataDir, { recursive: true })
  } catch (error) {
    if (['EEXIST', 'ENOTDIR'].includes(codeOf(error))) {
      throw new Error(`The data directory ${displayPath(dataDir)} is not a directory: there is a file in its place.`)
    }
    throw new Error(
      `The data directory ${displayPath(dataDir)} cannot be created (${codeOf(error)}). Choose another one.`,
    )
  }
  try {
    await fs.access(dataDir, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK)
  } catch (error) {
    throw new Error(
      `The data directory ${displayPath(dataDir)} is not writable (${codeOf(error)}). ` +
        'Give the user who runs Lastseen write access to it, or choose another one.',
    )
  }
  return dataDirectory
}

/** Whether there is a database to start. Throws when the directory contains something else. */
export async function clusterExists({ pgdata, passwordFile }: DataDirectory): Promise<boolean> {
  const pointer = await fs.readlink(pgdata).catch(() => undefined)
  let version: string
  try {
    version = (await fs.readFile(join(pgdata, 'PG_VERSION'), 'utf8')).trim()
    await fs.access(passwordFile, fs.constants.R_OK)
  } catch (error) {
    const path = (error as NodeJS.ErrnoException).path
    if (codeOf(error) !== 'ENOENT') {
      throw new Error(
        `${displayPath(path ?? pgdata)} cannot be read (${codeOf(error)}). ` +
          'Start Lastseen as the user who created the database.',
      )
    }
    if (path === passwordFile) {
      throw new Error(
        `The password file ${displayPath(passwordFile)} is missing, so the database in ${displayPath(pgdata)} cannot be opened. ` +
          'Put the file back.',
      )
    }
    const content = await fs.readdir(pgdata).catch(() => undefined)
    if (pointer !== undefined && !content?.length) {
      throw new Error(
        `${displayPath(pgdata)} points to ${pointer}, which is missing or empty. Put the files back, ` +
          `or delete ${displayPath(pgdata)} to begin with an empty database.`,
      )
    }
    if (content?.length) throw new Error(`${displayPath(pgdata)} is not empty and does not hold a PostgreSQL database.`)
    return false
  }
  if (version === MAJOR) return true
  throw new Error(`${displayPath(pgdata)} was made by PostgreSQL ${version}; this Lastseen runs PostgreSQL ${MAJOR}.`)
}

/** Prepares the account, the database files and the programs for a start. */
export async function prepareCluster(directory: DataDirectory, progress: (line: string) => void): Promise<Prepared> {
  const account = await chooseAccount(directory.pgdata)
  if (!(await clusterExists(directory))) await createCluster(directory, account, progress)
  const files = await fs.realpath(directory.pgdata)
  const home = dirname(files)
  if (!(await canUse(account, [home]))) {
    throw new Error(
      `PostgreSQL runs as user ${account?.name}, who cannot reach ${files}. ` +
        'Give that user access to the folders above it (chmod o+x), or move the data directory.',
    )
  }
  if (account && (await fs.stat(files)).uid === 0) await run('chown', ['-R', `${account.uid}:${account.gid}`, files])
  const prepared = { account, files, programs: await installBinaries(account, home, progress) }
  await ensureSuperuserPassword(directory.superuserPasswordFile, prepared)
  return prepared
}

/** The database gets its final name only when it is complete, so an interrupted creation can be repeated. */
async function createCluster(
  directory: DataDirectory,
  account: Account,
  progress: (line: string) => void,
): Promise<void> {
  progress(`Creating the database in ${displayPath(directory.pgdata)} (first start only)`)
  await removeDrafts(directory)
  const id = randomBytes(6).toString('hex')
  const draft = join(directory.dataDir, `postgres.init-${id}`)
  try {
    const files = (await canUse(account, [directory.dataDir])) ? draft : await createInStore(id, draft)
    if (files !== draft) {
      progress(
        `User ${account?.name} cannot reach ${displayPath(directory.dataDir)}: the database files are kept in ${files}`,
      )
    }
    await fs.mkdir(files, { mode: 0o700 })
    if (account) await fs.chown(files, account.uid, account.gid)
    const programs = await installBinaries(account, dirname(files), progress)
    await initialise({ account, files, programs }, await writePassword(directory.passwordFile))
    await fs.rmdir(directory.pgdata).catch(() => undefined)
    await fs.rename(draft, directory.pgdata)
    await syncFolder(directory.dataDir)
  } catch (error) {
    await removeDrafts(directory)
    throw error
  }
}

async function createInStore(id: string, draft: string): Promise<string> {
  const home = join(STORE, id)
  await fs.symlink(join(home, 'postgres'), draft)
  await fs.mkdir(home, { recursive: true })
  for (const folder of [STORE, home]) await fs.chmod(folder, 0o755)
  return join(home, 'postgres')
}

async function writePassword(file: string, password = newPassword()): Promise<string> {
  await fs.rm(file, { force: true })
  await fs.writeFile(file, password, { mode: 0o600, flag: 'wx', flush: true })
  return password
}

const newPassword = (): string => randomBytes(24).toString('base64url')

/** Runs statements, one in each line, as the superuser without a login. The server must not be running. */
function runSingleUser({ account, files, programs }: Prepared, statements: string[]) {
  const single = ['--single', '-D', files, '-c', 'exit_on_error=on', 'postgres']
  return run(join(programs, 'postgres'), single, account, `${statements.join('\n')}\n`)
}

/**
 * Gives the superuser `postgres` a password of its own, which the service never reads, so that the password of the service
 * does not give a superuser's rights. If the file is missing, the superuser gets a new password.
 */
async function ensureSuperuserPassword(file: string, prepared: Prepared): Promise<void> {
  if (await fs.stat(file).catch(() => undefined)) return
  const password = newPassword()
  const changed = await runSingleUser(prepared, [`ALTER ROLE postgres PASSWORD '${password}'`])
  if (!changed.ok) throw new Error(`PostgreSQL could not change the superuser's password:\n${changed.output.trim()}`)
  await writePassword(file, password)
}

async function initialise(prepared: Prepared, password: string): Promise<void> {
  const { account, files, programs } = prepared
  const secret = `${files}.secret`
  await fs.writeFile(secret, password, { mode: 0o600, flag: 'wx' })
  if (account) await fs.chown(secret, account.uid, account.gid)
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const access = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${secret}`]
  // Commits wait while a WAL segment is created. With the default of 16 MiB this causes noticeable delays.
  const log = ['--wal-segsize=2']
  const created = await run(
    join(programs, 'initdb'),
    [`--pgdata=${files}`, ...locale, ...access, ...log, '--data-checksums', '--no-instructions'],
    account,
  )
  await fs.rm(secret)
  if (!created.ok) throw new Error(`PostgreSQL could not create its files in ${files}:\n${created.output.trim()}`)
  const loginCreated = await runSingleUser(prepared, createLogin(password))
  if (!loginCreated.ok)
    throw new Error(`PostgreSQL could not create the database lastseen:\n${loginCreated.output.trim()}`)
}

/** As packaging/postgres.sql: the service logs in as a role that owns its database and has no other rights. */
const createLogin = (password: string): string[] => [
  `CREATE ROLE ${loginRole} LOGIN PASSWORD '${password}'`,
  `CREATE ROLE lastseen_writer NOLOGIN`,
  `CREATE ROLE lastseen_reader NOLOGIN`,
  `GRANT lastseen_writer, lastseen_reader TO ${loginRole}`,
  `GRANT SET ON PARAMETER temp_file_limit TO lastseen_writer, lastseen_reader`,
  `CREATE DATABASE lastseen OWNER ${loginRole}`,
]

/** Removes the files of an interrupted creation, including those that its draft only links to. */
async function removeDrafts({ dataDir }: DataDirectory): Promise<void> {
  for (const name of await fs.readdir(dataDir)) {
    if (!name.startsWith('postgres.init-')) continue
    const path = join(dataDir, name)
    const home = dirname(await fs.readlink(path).catch(() => path))
    if (dirname(home) === STORE) await fs.rm(home, { recursive: true, force: true, maxRetries: 3 })
    await fs.rm(path, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Makes the creation durable against a power failure. Directories cannot be synced on Windows. */
async function syncFolder(path: string): Promise<void> {
  const folder = await fs.open(path, 'r').catch(() => undefined)
  await folder?.sync().catch(() => undefined)
  await folder?.close()
}
