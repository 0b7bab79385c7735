import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { UsageError } from './errors.ts'

export interface Settings {
  url: string
  clientId: string
  clientSecret: string
}

type Environment = Readonly<Record<string, string | undefined>>

const emptyToUndefined = (text: string | undefined): string | undefined => (text === '' ? undefined : text)

function configPath(env: Environment): string {
  const folder = emptyToUndefined(env['XDG_CONFIG_HOME']) ?? join(emptyToUndefined(env['HOME']) ?? homedir(), '.config')
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
    warn(`${path} contains a secret and other users can read it. Run: chmod 600 ${path}`)
  try {
    return JSON.parse(text) as ConfigFile
  } catch {
    throw new UsageError(`${path} is not valid JSON: correct it or run \`lastseen login\``)
  }
}

/** Checks that the text is an http or https URL, and removes trailing slashes. */
export function normalizeUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new UsageError(`'${text}' is not an http or https URL`)
  return text.replace(/\/+$/, '')
}

/**
 * Returns the credential from the environment or, without one, from the config file. A credential from the file is only
 * sent to the server it was saved with.
 */
export function readSettings(env: Environment, warn: (text: string) => void): Settings {
  const path = configPath(env)
  const [envUrl, envId, envSecret] = ['URL', 'CLIENT_ID', 'CLIENT_SECRET'].map((name) =>
    emptyToUndefined(env[`LASTSEEN_${name}`]),
  )
  if (envId !== undefined || envSecret !== undefined) {
    if (envUrl === undefined || envId === undefined || envSecret === undefined)
      throw new UsageError('LASTSEEN_URL, LASTSEEN_CLIENT_ID and LASTSEEN_CLIENT_SECRET belong together: set all three')
    return { url: normalizeUrl(envUrl), clientId: envId, clientSecret: envSecret }
  }
  const file = readConfig(path, warn)
  if (file.url === undefined || file.client_id === undefined || file.client_secret === undefined)
    throw new UsageError(
      'There is no credential. Run `lastseen login`, or set LASTSEEN_URL, LASTSEEN_CLIENT_ID and LASTSEEN_CLIENT_SECRET',
    )
  if (envUrl !== undefined && normalizeUrl(envUrl) !== normalizeUrl(file.url))
    throw new UsageError(`LASTSEEN_URL is ${envUrl}, but the credential in ${path} is for ${file.url}`)
  return { url: normalizeUrl(file.url), clientId: file.client_id, clientSecret: file.client_secret }
}

export function writeSettings(env: Environment, { url, clientId, clientSecret }: Settings): string {
  const path = configPath(env)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const text = JSON.stringify({ url, client_id: clientId, client_secret: clientSecret }, null, 2)
  writeFileSync(path, `${text}\n`, { mode: 0o600 })
  // writeFileSync applies the mode only to a new file.
  chmodSync(path, 0o600)
  return path
}
