import { type Command, InvalidArgumentError } from 'commander'
import type { AppContext } from '../app/context.ts'
import { type Facts, OperatorError, UsageError, organizationNamed } from '../app/operator.ts'
import { mintCredentials, revokeCredential } from '../auth/commands.ts'
import { findOrganizationOfClient, listCredentials } from '../auth/credentials.sql.ts'
import { now } from '../kernel/clock.ts'
import { type Instant, formatMillis, parseRfc3339 } from '../kernel/instant.ts'
import { credentialScopes } from '../kernel/scopes.ts'
import { uuidPattern } from '../kernel/secrets.ts'
import { allPages, checkLine, withContext, operatorCommand, wholeNumber } from './command.ts'
import type { Listing } from './output.ts'

interface KeyOptions {
  org: string
  name: string
  scopes: string[]
  expiresAt?: Instant
  count?: number
}

function parseScopes(text: string): string[] {
  const scopes = [...new Set(text.split(',').map((scope) => scope.trim()))]
  const unknown = scopes.filter((scope) => !credentialScopes.some((known) => known === scope))
  if (unknown.length === 0) return scopes
  const names = unknown.map((scope) => scope || '(empty)').join(', ')
  throw new InvalidArgumentError(`No such scope: ${names}. Scopes are ${credentialScopes.join(', ')}.`)
}

function parseExpiry(text: string): Instant {
  const parsed = parseRfc3339(text)
  if (parsed == null) throw new InvalidArgumentError('It must be an RFC 3339 timestamp.')
  return parsed.instant
}

const formatOrNull = (at: Instant | null): string | null => (at === null ? null : formatMillis(at))

/** Creates one credential, or with `--count` a list of them. */
async function createKeys(context: AppContext, options: KeyOptions): Promise<Facts | Facts[]> {
  const { scopes, expiresAt = null } = options
  const name = checkLine('The name', options.name)
  if (expiresAt !== null && expiresAt <= now(context.clock)) throw new UsageError('--expires-at is in the past')
  const { orgId } = await organizationNamed(context, options.org)
  const draft = { name, scopes, expiresAt, createdBy: null }
  const minted = await mintCredentials(context, orgId, draft, options.count ?? 1)
  const keys = minted.map(({ credential, clientSecret }) => ({
    client_id: credential.clientId,
    client_secret: clientSecret,
    org_id: orgId,
    key_id: credential.id,
    name,
    scopes,
    environment: context.environment,
    created_at: formatMillis(credential.createdAt),
    expires_at: formatOrNull(expiresAt),
  }))
  return options.count === undefined ? keys[0]! : keys
}

/** Lists the keys that are not revoked, newest first, without their secrets. */
export async function listKeys(context: AppContext, options: { org: string }): Promise<Listing> {
  const { orgId } = await organizationNamed(context, options.org)
  const credentials = await allPages((page) => listCredentials(context.db.read, orgId, page))
  return {
    columns: ['key_id', 'client_id', 'name', 'scopes', 'created_at', 'expires_at', 'last_used_at'],
    rows: credentials.map((credential) => ({
      key_id: credential.id,
      client_id: credential.clientId,
      org_id: orgId,
      name: credential.name,
      scopes: credential.scopes,
      created_at: formatMillis(credential.createdAt),
      expires_at: formatOrNull(credential.expiresAt),
      last_used_at: formatOrNull(credential.lastUsedAt),
    })),
    empty: 'No keys.',
  }
}

async function revokeKey(context: AppContext, options: { clientId: string }): Promise<Facts> {
  const clientId = options.clientId.toLowerCase()
  const orgId = uuidPattern.test(clientId) ? await findOrganizationOfClient(context.db.read, clientId) : null
  if (orgId === null) throw new OperatorError(`There is no key with client id ${options.clientId}`)
  if (!(await revokeCredential(context, orgId, { clientId }))) throw new OperatorError('That key is already revoked')
  return { client_id: clientId, org_id: orgId, revoked: true }
}

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('API credentials')
  operatorCommand(key, 'list', 'list the keys of an organization that are not revoked, without secrets')
    .requiredOption('--org <name>', 'the organization, by name or id')
    .action(withContext(listKeys))
  operatorCommand(key, 'create', 'create a key; its secret is printed only once')
    .requiredOption('--org <name>', 'the organization, by name or id')
    .requiredOption('--name <name>', 'a name that states the purpose of the key')
    .requiredOption('--scopes <list>', 'comma-separated', parseScopes)
    .option('--expires-at <time>', 'RFC 3339; the key never expires when absent', parseExpiry)
    .option('--count <count>', 'number of keys; the result is then a list', wholeNumber(10_000))
    .action(withContext(createKeys))
  operatorCommand(key, 'revoke', 'revoke a key and all its tokens')
    .requiredOption('--client-id <uuid>', 'the client id of the key')
    .action(withContext(revokeKey))
}
