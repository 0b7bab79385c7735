import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { type Setting, settings } from '../../src/config/settings.ts'
import {
  type Environment,
  emptyDatabase,
  lastseen,
  newFolder,
  repository,
  serve,
  usePrograms,
} from '../support/process.ts'

usePrograms()

const problemsOf = (environment: Environment): string[] => {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    return (error as Error).message.split('\n').slice(1)
  }
}

function secretFile(text: string): string {
  const file = join(newFolder(), 'secret')
  writeFileSync(file, text)
  return file
}

describe('wrong settings', () => {
  it('are all reported together by name and value, and nothing is started', async () => {
    const dataDir = newFolder()
    const ended = await lastseen([], {
      LASTSEEN_DATA_DIR: dataDir,
      PORT: '80a',
      LASTSEEN_WORKERS: '0',
      LASTSEEN_EDGE_FILTER: 'yes',
      LASTSEEN_ENVIRONMENT: 'staging',
      LASTSEEN_BASE_URL: 'lastseen.example',
      LASTSEEN_LOG_LEVEL: 'loud',
      LASTSEEN_COLOUR: 'blue',
    })
    expect(ended.stderr.split('\n')).toEqual([
      'Lastseen cannot start with these settings:',
      '  - PORT "80a": expected a port number from 0 to 65535',
      '  - LASTSEEN_BASE_URL "lastseen.example": expected an http:// or https:// address',
      '  - LASTSEEN_ENVIRONMENT "staging": expected one of production, preview',
      '  - LASTSEEN_WORKERS "0": expected a whole number from 1 to 64',
      '  - LASTSEEN_EDGE_FILTER "yes": expected true or false',
      '  - LASTSEEN_LOG_LEVEL "loud": expected one of debug, info, warn, error, silent',
      '  - LASTSEEN_COLOUR: no such setting',
      '',
    ])
    expect(ended.stdout).toBe('')
    expect(ended.code).toBe(1)
    expect(readdirSync(dataDir)).toEqual([])
  })

  it('stop an operator command in the same way, with empty standard output', async () => {
    const ended = await lastseen(['org', 'create', '--name', 'Northwind', '--json'], { PORT: 'x', LASTSEEN_NO: '1' })
    expect(ended.stderr.split('\n')).toEqual([
      'Lastseen cannot start with these settings:',
      '  - PORT "x": expected a port number from 0 to 65535',
      '  - LASTSEEN_NO: no such setting',
      '',
    ])
    expect(ended).toMatchObject({ code: 1, stdout: '' })
  })

  it('never contain a secret', async () => {
    const missing = join(newFolder(), 'absent')
    const ended = await lastseen([], {
      DATABASE_URL: 'mysql://keeper:hush-1@db.example/lastseen',
      LASTSEEN_METRICS_TOKEN: 'hush-2',
      LASTSEEN_METRICS_TOKEN_FILE: missing,
    })
    expect(ended.stderr.split('\n')).toEqual([
      'Lastseen cannot start with these settings:',
      '  - DATABASE_URL: expected an address such as postgres://user:password@host/name',
      '  - LASTSEEN_METRICS_TOKEN: is set together with LASTSEEN_METRICS_TOKEN_FILE',
      '',
    ])
    expect(ended.code).toBe(1)
  })

  it.each([
    ['PORT', '65536', 'a port number from 0 to 65535'],
    ['PORT', '-1', 'a port number from 0 to 65535'],
    ['PORT', '8e3', 'a port number from 0 to 65535'],
    ['LASTSEEN_WORKERS', '65', 'a whole number from 1 to 64'],
    ['LASTSEEN_WORKERS', '1.5', 'a whole number from 1 to 64'],
    ['LASTSEEN_DATABASE_POOL', '101', 'a whole number from 1 to 100'],
    ['LASTSEEN_QUOTA_ASSETS', '-1', 'a whole number from 0 to 1000000000'],
    ['LASTSEEN_DATABASE_POOL', '0', 'a whole number from 1 to 100'],
    ['LASTSEEN_RATE_LIMIT_STORE', 'redis', 'one of auto, memory, database'],
    ['LASTSEEN_TRUST_PROXY', '1', 'true or false'],
    ['LASTSEEN_BASE_URL', 'http://', 'an http:// or https:// address'],
    ['LASTSEEN_BASE_URL', 'ftp://lastseen.example', 'an http:// or https:// address'],
    ['LASTSEEN_BASE_URL', 'https://two words', 'an http:// or https:// address'],
    ['LASTSEEN_MAIL_FROM', 'Lastseen', 'an e-mail address'],
  ])('are reported by name: %s=%s', (name, value, what) => {
    expect(problemsOf({ [name]: value })).toEqual([`  - ${name} "${value}": expected ${what}`])
  })

  it.each([
    'postgres://',
    'postgres:///lastseen',
    'http://db.example/lastseen',
    'postgres://keeper:a b@db.example:port/lastseen',
    'db.example',
  ])('name DATABASE_URL and not its value: %s', (url) => {
    expect(problemsOf({ DATABASE_URL: url })).toEqual([
      '  - DATABASE_URL: expected an address such as postgres://user:password@host/name',
    ])
  })
})

it.each(['mail.example:25', 'http://mail.example', 'smtp://'])(
  'name LASTSEEN_MAIL_URL and not its value: %s',
  (url) => {
    expect(problemsOf({ LASTSEEN_MAIL_URL: url })).toEqual([
      '  - LASTSEEN_MAIL_URL: expected an address such as smtp://user:password@host:587',
    ])
  },
)

it.each(['short', 'A'.repeat(42), `${'A'.repeat(43)}! `])('name LASTSEEN_MASTER_KEY and not its value: %s', (key) => {
  expect(problemsOf({ LASTSEEN_MASTER_KEY: key })).toEqual([
    '  - LASTSEEN_MASTER_KEY: expected 32 random bytes in base64, as printed by: openssl rand -base64 32',
  ])
})

describe('settings', () => {
  it.each(['base64', 'hex'] as const)('accept a master key in %s', (encoding) => {
    const key = Buffer.alloc(32, 9)
    expect(readConfig({ LASTSEEN_MASTER_KEY: key.toString(encoding) }).masterKey).toEqual(key)
  })

  it.each([
    'postgres://db.example/lastseen',
    'postgresql://keeper:pass%2Fword@db.example:5433/lastseen?sslmode=require',
    'postgres://keeper:word@one.example:5432,two.example:5432/lastseen',
    'postgres://keeper:a,b@db.example/lastseen',
    'postgres://[::1]:5432/lastseen',
  ])('accept %s as the URL of a database', (url) => {
    expect(readConfig({ DATABASE_URL: url }).databaseUrl).toBe(url)
  })

  it('each have a default value', () => {
    expect(readConfig({})).toEqual({
      port: 8080,
      host: '127.0.0.1',
      baseUrl: null,
      rootSurface: 'primary',
      environment: 'production',
      dataDir: './data',
      databaseUrl: null,
      replicaUrl: null,
      masterKey: null,
      databasePool: 4,
      workers: 1,
      shutdownDelaySeconds: 0,
      roles: new Set(['api', 'ingest', 'deliver']),
      rateLimitStore: 'auto',
      retentionDays: 400,
      liveStreamsPerUser: 10,
      liveStreamsPerOrg: 100,
      quotaAssets: 2_000_000,
      quotaLocations: 100_000,
      quotaReaders: 1000,
      quotaMembers: 1000,
      quotaApiKeys: 10_000,
      quotaImports: 20,
      quotaStoredBytes: 100_000_000_000,
      quotaQuerySeconds: 600,
      httpConnections: 10_000,
      httpConnectionsPerAddress: 2000,
      tlsCert: null,
      tlsKey: null,
      mqttPort: 1883,
      mqttConnections: 10_000,
      mqttConnectionsPerAddress: 1000,
      mqttUrl: null,
      mqttShare: 'auto',
      unknownReadersOrg: null,
      mqttPublicUrl: null,
      webhookAllow: [],
      webhookCa: null,
      webhookDns: [],
      mailUrl: null,
      mailFrom: 'Lastseen <lastseen@localhost>',
      exchangeLimit: 3000,
      adminEmail: 'admin@example.com',
      adminPassword: null,
      adminLink: false,
      signup: 'auto',
      signupLimit: 10,
      edgeFilter: false,
      trustProxy: false,
      metricsToken: null,
      logLevel: 'info',
      logFormat: 'auto',
    })
  })

  it('that are empty count as unset', () => {
    const empty = Object.values(settings).map((row: Setting<unknown>) => [row.name, ''])
    expect(readConfig(Object.fromEntries(empty))).toEqual(readConfig({}))
  })

  it('are all listed in the manual', () => {
    const manual = readFileSync(join(repository, 'docs/operating/settings.md'), 'utf8')
    const rows = [...manual.matchAll(/^\| `([A-Z_]+)`( \(`_FILE`\))? +\| (?:`(.*?)`)? *\| (.+?) *\|$/gm)]
    const output = rows.map(([, name, isSecret, fallback, about]) => [
      name,
      isSecret !== undefined,
      fallback ?? '',
      about,
    ])
    const known = Object.values(settings).map((row: Setting<unknown>) => [
      row.name,
      row.secret === true,
      row.fallback,
      row.about,
    ])
    expect(output).toEqual(known)
  })
})

describe('a secret in a file', { timeout: 60_000 }, () => {
  it('is read without the trailing line break', () => {
    const config = readConfig({
      DATABASE_URL_FILE: secretFile('postgres://db.example/lastseen\n'),
      LASTSEEN_METRICS_TOKEN_FILE: secretFile('hush\r\n'),
    })
    expect(config).toMatchObject({ databaseUrl: 'postgres://db.example/lastseen', metricsToken: 'hush' })
  })

  it('that is unreadable or empty is a configuration error', () => {
    const absent = join(newFolder(), 'absent')
    const empty = secretFile('\n')
    expect(problemsOf({ DATABASE_URL_FILE: absent, LASTSEEN_METRICS_TOKEN_FILE: empty })).toEqual([
      `  - DATABASE_URL: cannot be read from ${absent} (ENOENT)`,
      `  - LASTSEEN_METRICS_TOKEN: cannot be read from ${empty}: the file is empty`,
    ])
  })

  it('is supported for secrets only', () => {
    expect(problemsOf({ LASTSEEN_HOST_FILE: '/etc/hostname' })).toEqual(['  - LASTSEEN_HOST_FILE: no such setting'])
  })

  it('can hold the database URL and the metrics token', async () => {
    const database = await emptyDatabase()
    const server = await serve({
      DATABASE_URL_FILE: secretFile(`${database.url}\n`),
      LASTSEEN_METRICS_TOKEN_FILE: secretFile('hush-hush\n'),
    })
    expect((await server.send('GET', '/readyz')).status).toBe(200)
    expect((await server.send('GET', '/metrics')).status).toBe(401)
    expect((await server.send('GET', '/metrics', { token: 'hush' })).status).toBe(401)
    expect((await server.send('GET', '/metrics', { token: 'hush-hush' })).status).toBe(200)
    const { stdout, stderr } = await server.program.stop()
    expect(stdout + stderr).not.toContain('hush-hush')
    expect(stdout + stderr).not.toContain(`:${new URL(database.url).password}@`)
    await database.drop()
  })
})
