import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ConfigError, readConfig } from '../../src/config/config.ts'
import { type Setting, settings } from '../../src/config/settings.ts'
import { parseCidr } from '../../src/kernel/ip-range.ts'

const folder = mkdtempSync(join(tmpdir(), 'lastseen-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

function fileWith(text: string): string {
  const path = join(folder, Math.random().toString(36).slice(2))
  writeFileSync(path, text)
  return path
}

function problemsOf(environment: Record<string, string>): string[] {
  try {
    readConfig(environment)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    const [title, ...lines] = (error as Error).message.split('\n')
    expect(title).toBe('Lastseen cannot start with these settings:')
    return lines.map((line) => line.replace(/^ {2}- /, ''))
  }
  return []
}

describe('Settings that are not given', () => {
  it('have defaults that suit a first start on this machine', () => {
    expect(readConfig({})).toMatchObject({
      port: 8080,
      host: '127.0.0.1',
      baseUrl: null,
      environment: 'production',
      dataDir: './data',
      databaseUrl: null,
      databasePool: 4,
      workers: 1,
      rateLimitStore: 'auto',
      edgeFilter: false,
      trustProxy: false,
      metricsToken: null,
      logLevel: 'info',
    })
  })

  it('equal settings that are given as an empty string', () => {
    const empty = Object.fromEntries(Object.values(settings).map((row) => [row.name, '']))
    expect(readConfig(empty)).toEqual(readConfig({}))
  })

  it('are each documented and have a valid default', () => {
    for (const row of Object.values(settings) as Setting<unknown>[]) {
      expect(row.about).toMatch(/\.$/)
      expect(() => row.parse(row.fallback)).not.toThrow()
    }
  })
})

describe('A setting', () => {
  it.each([
    ['PORT', '0', { port: 0 }],
    ['PORT', '65535', { port: 65_535 }],
    ['LASTSEEN_HOST', '0.0.0.0', { host: '0.0.0.0' }],
    ['LASTSEEN_BASE_URL', 'https://api.example.com//', { baseUrl: 'https://api.example.com' }],
    ['LASTSEEN_BASE_URL', 'http://localhost:8080/lastseen/', { baseUrl: 'http://localhost:8080/lastseen' }],
    ['LASTSEEN_ENVIRONMENT', 'preview', { environment: 'preview' }],
    ['DATABASE_URL', 'postgres://a:b@h:5432/d', { databaseUrl: 'postgres://a:b@h:5432/d' }],
    ['DATABASE_URL', 'postgresql://h/d?sslmode=require', { databaseUrl: 'postgresql://h/d?sslmode=require' }],
    [
      'DATABASE_URL',
      'postgres://u:p@a:1,[::1]:2/d?target_session_attrs=read-write',
      { databaseUrl: 'postgres://u:p@a:1,[::1]:2/d?target_session_attrs=read-write' },
    ],
    ['LASTSEEN_REPLICA_URL', 'postgres://a:b@h:5432/d', { replicaUrl: 'postgres://a:b@h:5432/d' }],
    ['LASTSEEN_DATABASE_POOL', '100', { databasePool: 100 }],
    ['LASTSEEN_QUOTA_READERS', '0', { quotaReaders: 0 }],
    ['LASTSEEN_WORKERS', '64', { workers: 64 }],
    ['LASTSEEN_RATE_LIMIT_STORE', 'database', { rateLimitStore: 'database' }],
    ['LASTSEEN_SIGNUP', 'invite-only', { signup: 'invite-only' }],
    ['LASTSEEN_SIGNUP_LIMIT', '1000', { signupLimit: 1000 }],
    ['LASTSEEN_EDGE_FILTER', 'true', { edgeFilter: true }],
    ['LASTSEEN_TRUST_PROXY', 'true', { trustProxy: true }],
    ['LASTSEEN_METRICS_TOKEN', 'word', { metricsToken: 'word' }],
    ['LASTSEEN_LOG_LEVEL', 'silent', { logLevel: 'silent' }],
  ])('%s may be %s', (name, text, expected) => {
    expect(readConfig({ [name]: text })).toMatchObject(expected)
  })

  it.each([
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80a'],
    ['PORT', '8080.0'],
    ['PORT', ' 80'],
    ['LASTSEEN_BASE_URL', 'api.example.com'],
    ['LASTSEEN_BASE_URL', 'ftp://api.example.com'],
    ['LASTSEEN_BASE_URL', 'https://'],
    ['LASTSEEN_ENVIRONMENT', 'staging'],
    ['LASTSEEN_ENVIRONMENT', 'Production'],
    ['LASTSEEN_DATABASE_POOL', '0'],
    ['LASTSEEN_DATABASE_POOL', '101'],
    ['LASTSEEN_WORKERS', '0'],
    ['LASTSEEN_WORKERS', '1.5'],
    ['LASTSEEN_RATE_LIMIT_STORE', 'redis'],
    ['LASTSEEN_EDGE_FILTER', 'yes'],
    ['LASTSEEN_EDGE_FILTER', '1'],
    ['LASTSEEN_TRUST_PROXY', 'TRUE'],
    ['LASTSEEN_LOG_LEVEL', 'verbose'],
  ])('%s may not be %s, and the error names the setting and its value', (name, text) => {
    const problems = problemsOf({ [name]: text })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(`${name} ${JSON.stringify(text)}: expected `)
  })

  it('LASTSEEN_REPLICA_URL may not name several servers', () => {
    expect(problemsOf({ LASTSEEN_REPLICA_URL: 'postgres://a,b/d' })).toEqual([
      'LASTSEEN_REPLICA_URL: expected the address of one server, such as postgres://user:password@host/name',
    ])
  })

  it.each([
    ...['mysql://h/d', 'h/d', 'postgres://', 'postgres:///d', 'postgres://a,/d', 'postgres://a,,b/d'],
    'postgres://a,b/d?target_session_attrs=standby',
  ])('DATABASE_URL may not be %s', (text) => {
    expect(problemsOf({ DATABASE_URL: text })).toHaveLength(1)
  })

  it('that is unknown and starts with LASTSEEN_ is rejected', () => {
    expect(problemsOf({ LASTSEEN_EDGEFILTER: 'true' })).toEqual(['LASTSEEN_EDGEFILTER: no such setting'])
    expect(problemsOf({ SOMEBODY_ELSES: 'true', PATH: '/bin' })).toEqual([])
  })
})

describe('Configuration errors', () => {
  it('are all reported together', () => {
    const problems = problemsOf({ PORT: 'x', LASTSEEN_WORKERS: 'y', LASTSEEN_ENVIRONMENT: 'z', LASTSEEN_NOPE: '1' })
    expect(problems.map((line) => line.split(/[ :]/)[0]).sort()).toEqual([
      'LASTSEEN_ENVIRONMENT',
      'LASTSEEN_NOPE',
      'LASTSEEN_WORKERS',
      'PORT',
    ])
  })

  it('never contain a secret', () => {
    const [problem] = problemsOf({ DATABASE_URL: 'mysql://admin:hunter2@h/d' })
    expect(problem).toMatch(/^DATABASE_URL: expected /)
    expect(problem).not.toContain('hunter2')
  })
})

describe('A secret', () => {
  it('may be read from a file, without the trailing line break', () => {
    const path = fileWith('postgres://a:b@h/d\n')
    expect(readConfig({ DATABASE_URL_FILE: path }).databaseUrl).toBe('postgres://a:b@h/d')
    expect(readConfig({ LASTSEEN_METRICS_TOKEN_FILE: fileWith('word\n') }).metricsToken).toBe('word')
  })

  it('may not be given both as a value and as a file', () => {
    const problems = problemsOf({ LASTSEEN_METRICS_TOKEN: 'a', LASTSEEN_METRICS_TOKEN_FILE: fileWith('b') })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain('LASTSEEN_METRICS_TOKEN')
    expect(problems[0]).toContain('LASTSEEN_METRICS_TOKEN_FILE')
  })

  it('in a file that is unreadable or empty is an error', () => {
    expect(problemsOf({ LASTSEEN_METRICS_TOKEN_FILE: join(folder, 'missing') })).toHaveLength(1)
    expect(problemsOf({ LASTSEEN_METRICS_TOKEN_FILE: fileWith('\n') })).toHaveLength(1)
  })

  it('that is invalid is not shown when it comes from a file', () => {
    const [problem] = problemsOf({ DATABASE_URL_FILE: fileWith('mysql://admin:hunter2@h/d') })
    expect(problem).not.toContain('hunter2')
  })

  it('is the only kind of setting that can be read from a file', () => {
    expect(problemsOf({ LASTSEEN_HOST_FILE: fileWith('h') })).toEqual(['LASTSEEN_HOST_FILE: no such setting'])
  })
})

it('The configuration object is immutable', () => {
  expect(Object.isFrozen(readConfig({}))).toBe(true)
})

describe('Settings of webhooks', () => {
  it('are address ranges, certificate authorities and name servers', () => {
    const pem = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
    const config = readConfig({
      LASTSEEN_WEBHOOK_ALLOW: '10.1.0.0/16, fd00::/8,127.0.0.1',
      LASTSEEN_WEBHOOK_CA_FILE: fileWith(pem),
      LASTSEEN_WEBHOOK_DNS: '9.9.9.9,127.0.0.1:5353, 2620:fe::fe,[2620:fe::9]:53',
    })
    expect(config.webhookAllow).toEqual(['10.1.0.0/16', 'fd00::/8', '127.0.0.1'].map(parseCidr))
    expect(config.webhookCa).toBe(pem)
    expect(config.webhookDns).toEqual(['9.9.9.9', '127.0.0.1:5353', '2620:fe::fe', '[2620:fe::9]:53'])
  })

  it('allow nothing by default', () => {
    expect(readConfig({})).toMatchObject({ webhookAllow: [], webhookCa: null, webhookDns: [] })
  })

  it.each([
    ['LASTSEEN_WEBHOOK_ALLOW', '10.0.0.0/33', 'expected ranges such as 10.0.0.0/8,fd00::/8'],
    ['LASTSEEN_WEBHOOK_ALLOW', '10.0.0.0/8,,', 'expected ranges such as 10.0.0.0/8,fd00::/8'],
    ['LASTSEEN_WEBHOOK_ALLOW', 'hooks.example.com', 'expected ranges such as 10.0.0.0/8,fd00::/8'],
    ['LASTSEEN_WEBHOOK_DNS', 'dns.example.com', 'expected addresses such as 9.9.9.9 or [2620:fe::fe]:53'],
    ['LASTSEEN_WEBHOOK_DNS', '9.9.9', 'expected addresses such as 9.9.9.9 or [2620:fe::fe]:53'],
    ['LASTSEEN_WEBHOOK_CA_FILE', '/nowhere/ca.pem', 'cannot be read (ENOENT)'],
  ])('reject %s %j', (name, value, message) => {
    expect(problemsOf({ [name]: value })).toEqual([`${name} ${JSON.stringify(value)}: ${message}`])
  })

  it('reject a file without a certificate', () => {
    const file = fileWith('hello')
    expect(problemsOf({ LASTSEEN_WEBHOOK_CA_FILE: file })).toEqual([
      `LASTSEEN_WEBHOOK_CA_FILE ${JSON.stringify(file)}: expected a file of PEM certificates`,
    ])
  })
})
