import { readFileSync } from 'node:fs'
import { maxQuota } from '../kernel/quota.ts'
import { type Cidr, parseAddress, parseCidr } from '../kernel/ip-range.ts'
import { codePointLength } from '../kernel/json.ts'

/** An environment variable. The table in docs/operating/settings.md lists all of them with their default and `about`. */
export interface Setting<T> {
  readonly name: string
  readonly about: string
  readonly fallback: string
  /** Throws an Error with a message that states the expected value. */
  readonly parse: (text: string) => T
  readonly secret?: boolean
}

const expected = (description: string): never => {
  throw new Error(`expected ${description}`)
}

const port = (text: string): number =>
  /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : expected('a port number from 0 to 65535')

const count = (min: number, max: number) => (text: string) =>
  /^\d+$/.test(text) && Number(text) >= min && Number(text) <= max
    ? Number(text)
    : expected(`a whole number from ${min} to ${max}`)

const boolean = (text: string): boolean =>
  text === 'true' || text === 'false' ? text === 'true' : expected('true or false')

const oneOf =
  <const T extends string>(...values: T[]) =>
  (text: string): T =>
    values.find((value) => value === text) ?? expected(`one of ${values.join(', ')}`)

const line = (text: string): string => text

const quota = (name: string, noun: string, fallback: number): Setting<number> => ({
  name: `LASTSEEN_QUOTA_${name}`,
  fallback: String(fallback),
  parse: count(0, 1_000_000_000),
  about: `How many ${noun} an organization may have. \`lastseen org quota\` sets another number for one organization.`,
})

const optional = (text: string): string | null => (text === '' ? null : text)

/** Several hosts, separated by commas, are a primary and its standbys. */
function databaseUrl(text: string): string | null {
  if (text === '') return null
  const [authority = ''] = text.slice(text.indexOf('://') + 3).split(/[?/]/)
  const hosts = authority.slice(authority.lastIndexOf('@') + 1)
  const singleHostUrl = text.replace(hosts, hosts.split(',')[0]!)
  const isValid =
    /^postgres(ql)?:\/\//.test(text) && hosts.split(',').every((host) => host !== '') && URL.canParse(singleHostUrl)
  if (!isValid) return expected('an address such as postgres://user:password@host/name')
  const sessionAttrs = new URL(singleHostUrl).searchParams.get('target_session_attrs') ?? 'primary'
  if (!['any', 'read-write', 'primary'].includes(sessionAttrs))
    return expected('target_session_attrs to be primary or read-write: it must be a server that can be written to')
  return text
}

function replicaUrl(text: string): string | null {
  if (text === '') return null
  const hasOneHost = databaseUrl(text) !== null && !/^[^/]*\/\/[^/]*,/.test(text)
  return hasOneHost ? text : expected('the address of one server, such as postgres://user:password@host/name')
}

function httpUrl(text: string): string | null {
  if (text === '') return null
  return /^https?:\/\/[^/]+/.test(text) && URL.canParse(text)
    ? text.replace(/\/+$/, '')
    : expected('an http:// or https:// address')
}

export const roles = ['api', 'ingest', 'deliver'] as const

/** `api` serves the API and the web app, `ingest` receives messages from readers, `deliver` delivers webhooks. */
type Role = (typeof roles)[number]

function roleSet(text: string): ReadonlySet<Role> {
  const parts = splitList(text)
  const known = parts.flatMap((part) => roles.find((role) => role === part) ?? expected(`some of ${roles.join(', ')}`))
  return known.length === 0 ? expected(`some of ${roles.join(', ')}`) : new Set(known)
}

const splitList = (text: string): string[] => (text === '' ? [] : text.split(',').map((part) => part.trim()))

const ranges = (text: string): readonly Cidr[] =>
  splitList(text).map((part) => parseCidr(part) ?? expected('ranges such as 10.0.0.0/8,fd00::/8'))

/** Addresses with an optional port. An IPv6 address with a port is in brackets. */
const nameServers = (text: string): readonly string[] =>
  splitList(text).map((part) => {
    const [, plain, bracketed] = /^(?:([\d.]+|[\da-f:.]+(?=$))|\[([\da-f:.]+)\])(?::\d{1,5})?$/i.exec(part) ?? []
    return parseAddress(plain ?? bracketed ?? '') === null
      ? expected('addresses such as 9.9.9.9 or [2620:fe::fe]:53')
      : part
  })

function certificates(path: string): string | null {
  if (path === '') return null
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  return text.includes('-----BEGIN CERTIFICATE-----') ? text : expected('a file of PEM certificates')
}

/** 32 bytes in base64 or hexadecimal. */
function masterKey(text: string): Uint8Array | null {
  if (text === '') return null
  const key = Buffer.from(text, /^[\da-f]{64}$/i.test(text) ? 'hex' : 'base64')
  return key.length === 32 && /^[\w+/=-]+$/.test(text)
    ? key
    : expected('32 random bytes in base64, as printed by: openssl rand -base64 32')
}

function mailUrl(text: string): string | null {
  if (text === '') return null
  return /^smtps?:\/\/[^/]+/.test(text) && URL.canParse(text)
    ? text
    : expected('an address such as smtp://user:password@host:587')
}

const sender = (text: string): string =>
  /^[^\r\n]*[^\s@<]+@[^\s@>]+>?$/.test(text) ? text : expected('an e-mail address')

const emailAddress = (text: string): string =>
  /^[^\s@]+@[^\s@]+$/.test(text) && text.length <= 255 ? text : expected('an e-mail address')

function adminPassword(text: string): string | null {
  if (text === '') return null
  const length = codePointLength(text)
  return length >= 10 && length <= 1024 ? text : expected('10 to 1024 characters')
}

const setting = <T>(definition: Setting<T>): Setting<T> => definition

export const settings = {
  port: setting({ name: 'PORT', fallback: '8080', parse: port, about: 'Port of the API and the web app.' }),
  host: setting({
    name: 'LASTSEEN_HOST',
    fallback: '127.0.0.1',
    parse: line,
    about: 'Address to listen on; `0.0.0.0` for all.',
  }),
  baseUrl: setting({
    name: 'LASTSEEN_BASE_URL',
    fallback: '',
    parse: httpUrl,
    about: 'Public URL of the installation, for the OpenAPI documents and for links in e-mails. Relative when unset.',
  }),
  rootSurface: setting({
    name: 'LASTSEEN_ROOT_SURFACE',
    fallback: 'primary',
    parse: oneOf('primary', 'natural-key'),
    about:
      'The API at `/api/v1`. `primary`: ids, with natural keys under `/natural`. `natural-key`: the API of v1.0.0, with ids under `/primary`.',
  }),
  environment: setting({
    name: 'LASTSEEN_ENVIRONMENT',
    fallback: 'production',
    parse: oneOf('production', 'preview'),
    about: 'Tokens and credentials are valid only in their own environment.',
  }),
  dataDir: setting({
    name: 'LASTSEEN_DATA_DIR',
    fallback: './data',
    parse: line,
    about:
      'Data directory of the embedded database. A relative path begins in the folder of the checkout, or, when the npm package is installed, in `~/.local/share/lastseen` (`/var/lib/lastseen` for root).',
  }),
  databaseUrl: setting({
    name: 'DATABASE_URL',
    fallback: '',
    parse: databaseUrl,
    secret: true,
    about:
      'An external PostgreSQL 15 or newer, instead of the embedded one. The role must own the database. Several hosts, separated by commas, are a primary and its standbys.',
  }),
  replicaUrl: setting({
    name: 'LASTSEEN_REPLICA_URL',
    fallback: '',
    parse: replicaUrl,
    secret: true,
    about:
      'A streaming replica of that PostgreSQL for reports, history and the CSV files of the web app, which may then be slightly out of date.',
  }),
  masterKey: setting({
    name: 'LASTSEEN_MASTER_KEY',
    fallback: '',
    parse: masterKey,
    secret: true,
    about:
      'Encrypts the keys in the database, so that a backup alone cannot be used to sign tokens or decrypt webhook secrets: 32 random bytes in base64 (`openssl rand -base64 32`). Once set, every process and command needs it.',
  }),
  databasePool: setting({
    name: 'LASTSEEN_DATABASE_POOL',
    fallback: '4',
    parse: count(1, 100),
    about:
      'Size of the database connection pool for lookups and lists in each process. Other reads, searches and reports, and other single statements each have a pool of the same size; transactions have one of twice the size. Up to eighteen more connections serve sign-ins, shared rate limits, imports, exports, the readiness check, notifications and locks.',
  }),
  workers: setting({
    name: 'LASTSEEN_WORKERS',
    fallback: '1',
    parse: count(1, 64),
    about: 'Number of server processes on this machine; same as `--workers N`.',
  }),
  roles: setting({
    name: 'LASTSEEN_ROLES',
    fallback: 'api,ingest,deliver',
    parse: roleSet,
    about:
      'Roles of this process: `api` (with the web app), `ingest` (readers), `deliver` (webhooks); same as `--roles`. `lastseen ingest` and `lastseen deliver` start a process with one role.',
  }),
  shutdownDelaySeconds: setting({
    name: 'LASTSEEN_SHUTDOWN_DELAY_SECONDS',
    fallback: '0',
    parse: count(0, 300),
    about:
      'Seconds for which a stopping process still accepts requests while `/readyz` returns 503, so that a load balancer sends the next requests to other processes.',
  }),
  rateLimitStore: setting({
    name: 'LASTSEEN_RATE_LIMIT_STORE',
    fallback: 'auto',
    parse: oneOf('auto', 'memory', 'database'),
    about:
      'Where rate limit buckets are stored. `auto`: in memory while a single process serves, in the database as soon as there are several. `memory` is for a single process only.',
  }),
  retentionDays: setting({
    name: 'LASTSEEN_RETENTION_DAYS',
    fallback: '400',
    parse: count(1, 36_500),
    about: 'Number of days for which history is kept. Reads that are older when they arrive are ignored.',
  }),
  liveStreamsPerUser: setting({
    name: 'LASTSEEN_LIVE_STREAMS_PER_USER',
    fallback: '10',
    parse: count(1, 10_000),
    about: 'Live streams that one user or API key may have open at a time in each server process.',
  }),
  liveStreamsPerOrg: setting({
    name: 'LASTSEEN_LIVE_STREAMS_PER_ORG',
    fallback: '100',
    parse: count(1, 10_000),
    about:
      'Live streams that an organization may have open at a time in each server process. `lastseen org quota` sets another number for one organization.',
  }),
  quotaAssets: quota('ASSETS', 'assets', 2_000_000),
  quotaLocations: quota('LOCATIONS', 'locations', 100_000),
  quotaReaders: quota('READERS', 'readers', 1000),
  quotaMembers: quota('MEMBERS', 'members', 1000),
  quotaApiKeys: quota('API_KEYS', 'API keys that are not revoked', 10_000),
  quotaImports: quota('IMPORTS', 'stored imports', 20),
  quotaStoredBytes: setting({
    name: 'LASTSEEN_QUOTA_STORED_BYTES',
    fallback: '100000000000',
    parse: count(0, maxQuota),
    about:
      'How many bytes an organization may store, as an hourly job estimates. `lastseen org quota` sets another number for one organization.',
  }),
  quotaQuerySeconds: setting({
    name: 'LASTSEEN_QUOTA_QUERY_SECONDS',
    fallback: '600',
    parse: count(0, 1_000_000_000),
    about:
      'Seconds of database time that the searches, reports and long lists of an organization may use per minute in each server process. `lastseen org quota` sets another number for one organization.',
  }),
  httpConnections: setting({
    name: 'LASTSEEN_HTTP_CONNECTIONS',
    fallback: '10000',
    parse: count(1, 1_000_000),
    about: 'HTTP connections that each server process accepts at a time.',
  }),
  httpConnectionsPerAddress: setting({
    name: 'LASTSEEN_HTTP_CONNECTIONS_PER_ADDRESS',
    fallback: '2000',
    parse: count(1, 1_000_000),
    about:
      'How many of them may come from one IPv4 address or one IPv6 network of 64 bits. Without effect with `LASTSEEN_TRUST_PROXY`, because all connections come from the proxy.',
  }),
  tlsCert: setting({
    name: 'LASTSEEN_TLS_CERT',
    fallback: '',
    parse: optional,
    about:
      'PEM file of the server’s certificate and its intermediate certificates. With it, the HTTP port serves HTTPS and the embedded MQTT broker MQTT over TLS. Changes of the file are applied without a restart.',
  }),
  tlsKey: setting({
    name: 'LASTSEEN_TLS_KEY',
    fallback: '',
    parse: optional,
    about: 'PEM file of the private key of the certificate.',
  }),
  mqttPort: setting({
    name: 'LASTSEEN_MQTT_PORT',
    fallback: '1883',
    parse: port,
    about: 'Port of the embedded MQTT broker; 0 turns it off.',
  }),
  mqttConnections: setting({
    name: 'LASTSEEN_MQTT_CONNECTIONS',
    fallback: '10000',
    parse: count(1, 1_000_000),
    about: 'Connections that the embedded MQTT broker accepts at a time in each server process.',
  }),
  mqttConnectionsPerAddress: setting({
    name: 'LASTSEEN_MQTT_CONNECTIONS_PER_ADDRESS',
    fallback: '1000',
    parse: count(1, 1_000_000),
    about:
      'How many of them may come from one IPv4 address or one IPv6 network of 64 bits. Readers behind one proxy or NAT share an address.',
  }),
  mqttUrl: setting({
    name: 'LASTSEEN_MQTT_URL',
    fallback: '',
    parse: optional,
    secret: true,
    about: 'An external MQTT broker to subscribe to, instead of the embedded one.',
  }),
  mqttShare: setting({
    name: 'LASTSEEN_MQTT_SHARE',
    fallback: 'auto',
    parse: oneOf('auto', 'always'),
    about:
      'When to use a shared subscription at an external broker. `auto`: with several workers, or if the process does not have all roles. Set `always` if several independently started processes with all roles subscribe.',
  }),
  unknownReadersOrg: setting({
    name: 'LASTSEEN_UNKNOWN_READERS_ORG',
    fallback: '',
    parse: (text) => (text === '' ? null : count(1, Number.MAX_SAFE_INTEGER)(text)),
    about:
      'Id of the organization whose managers see unregistered readers of the external broker in the web app. When unset, they are shown while the installation has a single organization.',
  }),
  mqttPublicUrl: setting({
    name: 'LASTSEEN_MQTT_PUBLIC_URL',
    fallback: '',
    parse: optional,
    about: 'Public URL of the broker for readers, shown when a reader is created.',
  }),
  webhookAllow: setting({
    name: 'LASTSEEN_WEBHOOK_ALLOW',
    fallback: '',
    parse: ranges,
    about: 'Private address ranges to which webhooks may be sent, such as `10.1.0.0/16,127.0.0.1`.',
  }),
  webhookCa: setting({
    name: 'LASTSEEN_WEBHOOK_CA_FILE',
    fallback: '',
    parse: certificates,
    about: 'PEM file of certificate authorities that are trusted for webhook endpoints in addition to the public ones.',
  }),
  webhookDns: setting({
    name: 'LASTSEEN_WEBHOOK_DNS',
    fallback: '',
    parse: nameServers,
    about:
      'Name servers that resolve webhook hosts, such as `9.9.9.9,149.112.112.112`. When unset, those of the system.',
  }),
  mailUrl: setting({
    name: 'LASTSEEN_MAIL_URL',
    fallback: '',
    parse: mailUrl,
    secret: true,
    about: 'The mail server, such as `smtp://user:password@host:587`. When unset, links are printed to standard error.',
  }),
  mailFrom: setting({
    name: 'LASTSEEN_MAIL_FROM',
    fallback: 'Lastseen <lastseen@localhost>',
    parse: sender,
    about: 'Sender of e-mails.',
  }),
  exchangeLimit: setting({
    name: 'LASTSEEN_EXCHANGE_LIMIT',
    fallback: '3000',
    parse: count(1, 1_000_000),
    about: 'Token exchanges per minute and credential in each server process.',
  }),
  adminEmail: setting({
    name: 'LASTSEEN_ADMIN_EMAIL',
    fallback: 'admin@example.com',
    parse: emailAddress,
    about: 'E-mail address of the admin whom the first start creates. Later starts ignore it.',
  }),
  adminPassword: setting({
    name: 'LASTSEEN_ADMIN_PASSWORD',
    fallback: '',
    parse: adminPassword,
    secret: true,
    about:
      'Password of that admin, 10 to 1024 characters. When unset, the first start prints a password if only this machine can reach the server, and otherwise a link to choose one. Later starts ignore it.',
  }),
  adminLink: setting({
    name: 'LASTSEEN_ADMIN_LINK',
    fallback: 'false',
    parse: boolean,
    about:
      'Makes the first start print a link with which that admin chooses a password, and neither a password nor an API credential, also when only this machine can reach the server: for a server whose output is stored. Later starts ignore it.',
  }),
  signup: setting({
    name: 'LASTSEEN_SIGNUP',
    fallback: 'auto',
    parse: oneOf('auto', 'open', 'invite-only', 'closed'),
    about:
      'Who may create an account over HTTP. `open`: everyone, with a new organization. `invite-only`: users with an invitation. `closed`: no one; only operator commands create accounts. `auto`: `open` while `LASTSEEN_HOST` is a loopback address and `LASTSEEN_TRUST_PROXY` is off, `invite-only` otherwise.',
  }),
  signupLimit: setting({
    name: 'LASTSEEN_SIGNUP_LIMIT',
    fallback: '10',
    parse: count(1, 1_000_000),
    about:
      'Sign-ups per hour and client address. Clients on this machine are not limited while `LASTSEEN_HOST` is a loopback address and `LASTSEEN_TRUST_PROXY` is off.',
  }),
  edgeFilter: setting({
    name: 'LASTSEEN_EDGE_FILTER',
    fallback: 'false',
    parse: boolean,
    about: 'Reject requests whose User-Agent is empty or the default of an HTTP library, with a plain-text 403.',
  }),
  trustProxy: setting({
    name: 'LASTSEEN_TRUST_PROXY',
    fallback: 'false',
    parse: boolean,
    about: 'Take the client address from the last entry of X-Forwarded-For. Use only behind a proxy that sets it.',
  }),
  metricsToken: setting({
    name: 'LASTSEEN_METRICS_TOKEN',
    fallback: '',
    parse: optional,
    secret: true,
    about:
      'Bearer token for `/metrics`. When unset, `/metrics` is available only while the server listens on a loopback address without `LASTSEEN_TRUST_PROXY`, for a loopback host name, and not through a proxy.',
  }),
  logLevel: setting({
    name: 'LASTSEEN_LOG_LEVEL',
    fallback: 'info',
    parse: oneOf('debug', 'info', 'warn', 'error', 'silent'),
    about: 'Lowest level that is logged.',
  }),
  logFormat: setting({
    name: 'LASTSEEN_LOG_FORMAT',
    fallback: 'auto',
    parse: oneOf('auto', 'json', 'pretty'),
    about: 'Format of log lines. `auto`: `pretty` on a terminal, otherwise `json`.',
  }),
}

export type Settings = typeof settings
