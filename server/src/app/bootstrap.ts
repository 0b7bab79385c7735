import { mintCredentials } from '../auth/commands.ts'
import { withAdvisoryLock } from '../db/advisory-lock.ts'
import { newPassword } from '../kernel/secrets.ts'
import { credentialScopes } from '../kernel/scopes.ts'
import { createOrganization } from '../organizations/commands.ts'
import { hasOrganizations } from '../organizations/organizations.sql.ts'
import { createUser } from '../users/commands.ts'
import type { AppContext } from './context.ts'

export const firstOrganizationName = 'My organization'

const lockKey = 6_170_502

/**
 * Creates the first organization with an admin and a credential in an empty installation, and returns the text that shows
 * them. Returns null if an organization exists. If several servers start at once, only one of them creates it.
 */
export async function bootstrap(context: AppContext, url: string): Promise<string | null> {
  if (await hasOrganizations(context.db.read)) return null
  return withAdvisoryLock(url, lockKey, async () =>
    (await hasOrganizations(context.db.read)) ? null : createFirstOrganization(context),
  )
}

async function createFirstOrganization(context: AppContext): Promise<string> {
  const { orgId, name } = await createOrganization(context, firstOrganizationName)
  const email = 'admin@example.com'
  const password = newPassword()
  await createUser(context, orgId, { email, password, role: 'admin' })
  const draft = { name: 'First key', scopes: credentialScopes.slice(0, 5), expiresAt: null, createdBy: null }
  const [minted] = await mintCredentials(context, orgId, draft, 1)
  return [
    '',
    '  First start. These secrets are shown only once:',
    '',
    `    Organization    ${name}`,
    `    Sign in with    ${email}`,
    `    Password        ${password}`,
    '',
    `    client_id       ${minted!.credential.clientId}`,
    `    client_secret   ${minted!.clientSecret}`,
    '',
  ].join('\n')
}
