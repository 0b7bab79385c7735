import { createFirstPasswordLink } from '../accounts/passwords.ts'
import { mintCredentials } from '../auth/commands.ts'
import { withAdvisoryLock } from '../db/advisory-lock.ts'
import { isLoopback } from '../kernel/ip-range.ts'
import { newPassword } from '../kernel/secrets.ts'
import { credentialScopes } from '../kernel/scopes.ts'
import { createOrganization } from '../organizations/commands.ts'
import { hasOrganizations } from '../organizations/organizations.sql.ts'
import { createUser } from '../users/commands.ts'
import { passwordWeakness } from '../users/password-rules.ts'
import { foldEmail } from '../users/user.ts'
import type { AppContext } from './context.ts'
import { localUrl } from './local-url.ts'

export const firstOrganizationName = 'My organization'

const lockKey = 6_170_502

/**
 * Creates the first organization with an admin in an empty installation, and returns the text that the operator needs to
 * sign in. Returns null if an organization exists. If several servers start at once, only one of them creates it.
 */
export async function bootstrap(context: AppContext, url: string): Promise<string | null> {
  if (await hasOrganizations(context.db.read)) return null
  return withAdvisoryLock(url, lockKey, async () =>
    (await hasOrganizations(context.db.read)) ? null : createFirstOrganization(context),
  )
}

async function createFirstOrganization(context: AppContext): Promise<string> {
  const { host, trustProxy, adminEmail: email, adminPassword, adminLink } = context.config
  const weakness = adminPassword === null ? null : passwordWeakness(adminPassword, foldEmail(email))
  if (weakness !== null) throw new Error(`LASTSEEN_ADMIN_PASSWORD ${weakness}; choose another one`)
  const { orgId, name } = await createOrganization(context, firstOrganizationName)
  const password = adminPassword ?? newPassword()
  const { userId } = await createUser(context, orgId, { email, password, role: 'admin' })
  const account = [`    Organization    ${name}`, `    Sign in with    ${email}`]
  if (adminPassword !== null) return lines('  First start.', '', ...account)
  // The log of a server that others can reach, or that is stored, must not contain a secret that stays valid.
  if (adminLink || !isLoopback(host) || trustProxy) {
    const link = await firstPasswordLink(context, userId)
    return lines(
      '  First start. Choose a password with this link, once and within 24 hours:',
      '',
      ...account,
      `    ${link}`,
    )
  }
  const draft = { name: 'First key', scopes: credentialScopes.slice(0, 5), expiresAt: null, createdBy: null }
  const [minted] = await mintCredentials(context, orgId, draft, 1)
  return lines(
    '  First start. These secrets are shown only once:',
    '',
    ...account,
    `    Password        ${password}`,
    '',
    `    client_id       ${minted!.credential.clientId}`,
    `    client_secret   ${minted!.clientSecret}`,
  )
}

function firstPasswordLink(context: AppContext, userId: number): Promise<string> {
  const { config } = context
  const siteUrl = (): string => config.baseUrl ?? localUrl(config, 'http', config.port)
  return createFirstPasswordLink({ ...context, siteUrl }, userId)
}

const lines = (...text: string[]): string => ['', ...text, ''].join('\n')
