import type { Config } from '../config/config.ts'
import { mintCredentials, revokeCredential } from '../credentials/commands.ts'
import { findOrganizationOfClient } from '../credentials/credentials.sql.ts'
import { now } from '../kernel/clock.ts'
import { formatMillis, parseRfc3339 } from '../kernel/instant.ts'
import { codePointLength, textProblem } from '../kernel/json.ts'
import { type Role, credentialScopes, roles } from '../kernel/scopes.ts'
import { newPassword, uuidPattern } from '../kernel/secrets.ts'
import { createOrganization } from '../organizations/commands.ts'
import { findOrganization, findOrganizationsByName } from '../organizations/organizations.sql.ts'
import { createUser } from '../users/commands.ts'
import { foldEmail } from '../users/user.ts'
import { findUserByEmail, putMembership } from '../users/users.sql.ts'
import { lapseOrganization, reinstateOrganization } from '../webhooks/commands.ts'
import { type Core, openCore, openDatabase, prepareDatabase } from './core.ts'
import { webhookNeeds } from './webhooks.ts'

/** Something the operator typed that cannot be done; told without a stack trace. */
export class OperatorError extends Error {}

export type Facts = Record<string, unknown>

/** Works beside a running server, whose embedded database it finds, and without one. */
export async function withCore<Result>(
  config: Config,
  progress: (line: string) => void,
  work: (core: Core) => Promise<Result>,
): Promise<Result> {
  const database = await openDatabase(config, progress)
  try {
    await prepareDatabase(config, database.url, progress)
    const core = await openCore({ config, url: database.url })
    try {
      return await work(core)
    } finally {
      await core.close()
    }
  } finally {
    await database.release()
  }
}

/** By name, or by id where several share the name. */
export async function organizationNamed(core: Core, given: string): Promise<{ orgId: number; name: string }> {
  const found = await findOrganizationsByName(core.db.read, given)
  if (found.length > 1)
    throw new OperatorError(
      `Several organizations are called ${JSON.stringify(given)}: name one by its id, ${found.map((one) => one.orgId).join(' or ')}`,
    )
  if (found[0] !== undefined) return found[0]
  const byId = /^[1-9]\d{0,15}$/.test(given) ? await findOrganization(core.db.read, Number(given)) : null
  if (byId === null) throw new OperatorError(`There is no organization called ${JSON.stringify(given)}`)
  return byId
}

export function checkLine(what: string, text: string): string {
  if (text.trim() === '' || codePointLength(text) > 255)
    throw new OperatorError(`${what} must have 1 to 255 characters`)
  if (textProblem(text) !== null) throw new OperatorError(`${what} must not hold line breaks or control characters`)
  return text
}

export async function createOrg(core: Core, options: { name: string }): Promise<Facts> {
  const name = checkLine('The name', options.name)
  if ((await findOrganizationsByName(core.db.read, name)).length > 0)
    throw new OperatorError(`An organization called ${JSON.stringify(name)} exists already`)
  const organization = await createOrganization(core, name)
  return { org_id: organization.orgId, name }
}

export async function setLapse(core: Core, options: { name: string }, isLapsed: boolean): Promise<Facts> {
  const { orgId, name } = await organizationNamed(core, options.name)
  await (isLapsed ? lapseOrganization : reinstateOrganization)(webhookNeeds(core), orgId)
  return { org_id: orgId, name, lapsed: isLapsed }
}

function knownRole(given: string): Role {
  const role = roles.find((one): one is Role => one === given)
  if (role === undefined) throw new OperatorError(`The role must be one of ${roles.join(', ')}`)
  return role
}

export async function createUserIn(
  core: Core,
  options: { org: string; email: string; role: string; password?: string },
): Promise<Facts> {
  const { orgId } = await organizationNamed(core, options.org)
  const role = knownRole(options.role)
  if (!/^[^\s@]+@[^\s@]+$/.test(checkLine('The e-mail address', options.email)))
    throw new OperatorError(`${JSON.stringify(options.email)} is not an e-mail address`)
  const password = options.password ?? newPassword()
  if (codePointLength(password) < 10 || codePointLength(password) > 1024 || textProblem(password) !== null)
    throw new OperatorError('A password has 10 to 1024 characters, none of them a control character')
  const user = await createUser(core, orgId, { email: options.email, password, role })
  return { user_id: user.userId, email: user.email, role, org_id: orgId, password }
}

/** Gives someone who has an account a role in another organization, or another role in this one. */
export async function addUserTo(core: Core, options: { org: string; email: string; role: string }): Promise<Facts> {
  const { orgId } = await organizationNamed(core, options.org)
  const role = knownRole(options.role)
  const user = await findUserByEmail(core.db.read, foldEmail(options.email))
  if (user === null)
    throw new OperatorError(
      `Nobody has an account with the address ${JSON.stringify(options.email)}; make it with user create`,
    )
  await core.db.shared((tx) => putMembership(tx, user.userId, orgId, role, now(core.clock)))
  return { user_id: user.userId, email: user.email, role, org_id: orgId }
}

export interface KeyOptions {
  org: string
  name: string
  scopes: string
  expiresAt?: string
}

export async function createKeys(core: Core, options: KeyOptions, count: number): Promise<Facts[]> {
  const { orgId } = await organizationNamed(core, options.org)
  const scopes = [...new Set(options.scopes.split(',').map((scope) => scope.trim()))]
  const unknown = scopes.filter((scope) => !credentialScopes.some((known) => known === scope))
  if (unknown.length > 0)
    throw new OperatorError(
      `No such scope: ${unknown.map((scope) => scope || '(empty)').join(', ')}. Scopes are ${credentialScopes.join(', ')}`,
    )
  const expiresAt = options.expiresAt === undefined ? null : parseRfc3339(options.expiresAt)?.instant
  if (expiresAt === undefined) throw new OperatorError('--expires-at must be an RFC 3339 timestamp')
  if (expiresAt !== null && expiresAt <= now(core.clock)) throw new OperatorError('--expires-at is in the past')
  const draft = { name: checkLine('The name', options.name), scopes, expiresAt, createdBy: null }
  const minted = await mintCredentials(core, orgId, draft, count)
  return minted.map(({ credential, clientSecret }) => ({
    client_id: credential.clientId,
    client_secret: clientSecret,
    org_id: orgId,
    key_id: credential.id,
    name: credential.name,
    scopes,
    environment: core.environment,
    created_at: formatMillis(credential.createdAt),
    expires_at: expiresAt === null ? null : formatMillis(expiresAt),
  }))
}

export async function revokeKey(core: Core, options: { clientId: string }): Promise<Facts> {
  const clientId = options.clientId.toLowerCase()
  const orgId = uuidPattern.test(clientId) ? await findOrganizationOfClient(core.db.read, clientId) : null
  if (orgId === null) throw new OperatorError(`There is no key with client id ${options.clientId}`)
  if (!(await revokeCredential(core, orgId, { clientId }))) throw new OperatorError('That key was revoked before')
  return { client_id: clientId, org_id: orgId, revoked: true }
}
