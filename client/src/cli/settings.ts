import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { UsageError } from './problems.ts'

export interface Settings {
  url: string
  clientId: string
  clientSecret: string
}

type Environment = Readonly<Record<string, string | undefined>>

const filled = (text: string | undefined): string | undefined => (text === '' ? undefined : text)

function configPath(env: Environment): string {
  const folder = filled(env['XDG_CONFIG_HOME']) ?? join(filled(env['HOME']) ?? homedir(), '.config')
  return join(folder, 'lastseen', 'config.json')
}

interface ConfigFile {
  url?: string
  client_id?: string
  client_secret?: string
}

function readConfig(path: string, warn: (text: string) => void): ConfigFile {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new UsageError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`)
  }
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0)
    warn(`${path} holds a secret and others may read it: chmod 600 it`)
  try {
    return JSON.parse(text) as ConfigFile
  } catch {
    throw new UsageError(`${path} is not valid JSON`)
  }
}

/** An address that requests can go to. */
export function checkedUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new UsageError(`'${text}' is not an http or https address`)
  return text.replace(/\/+$/, '')
}

/** The environment's credential, or else that of the config file, which is never sent to another server than its own. */
export function readSettings(env: Environment, warn: (text: string) => void): Settings {
  const path = configPath(env)
  const [envUrl, envId, envSecret] = ['URL', 'CLIENT_ID', 'CLIENT_SECRET'].map((name) =>
    filled(env[`LASTSEEN_${name}`]),
  )
  if (envId !== undefined || envSecret !== undefined) {
    if (envUrl === undefined || envId === undefined || envSecret === undefined)
      throw new UsageError('LASTSEEN_URL, LASTSEEN_CLIENT_ID and LASTSEEN_CLIENT_SECRET belong together: set all three')
    return { url: checkedUrl(envUrl), clientId: envId, clientSecret: envSecret }
  }
  const file = readConfig(path, warn)
  if (file.url === undefined || file.client_id === undefined || file.client_secret === undefined)
    throw new UsageError(
      'There is no credential. Run `lastseen login`, or set LASTSEEN_URL, LASTSEEN_CLIENT_ID and LASTSEEN_CLIENT_SECRET',
    )
  if (envUrl !== undefined && checkedUrl(envUrl) !== checkedUrl(file.url))
    throw new UsageError(`LASTSEEN_URL is ${envUrl}, but the credential in ${path} is for ${file.url}`)
  return { url: checkedUrl(file.url), clientId: file.client_id, clientSecret: file.client_secret }
}

export function writeSettings(env: Environment, { url, clientId, clientSecret }: Settings): string {
  const path = configPath(env)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const text = JSON.stringify({ url, client_id: clientId, client_secret: clientSecret }, null, 2)
  writeFileSync(path, `${text}\n`, { mode: 0o600 })
  // The mode counts only for a file that is new.
  chmodSync(path, 0o600)
  return path
}
