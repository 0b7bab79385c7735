import { mintCredentials } from '../credentials/commands.ts'
import { alone } from '../db/alone.ts'
import { newPassword } from '../kernel/secrets.ts'
import { credentialScopes } from '../kernel/scopes.ts'
import { createOrganization } from '../organizations/commands.ts'
import { hasOrganizations } from '../organizations/organizations.sql.ts'
import { createUser } from '../users/commands.ts'
import type { Core } from './core.ts'

export const firstOrganizationName = 'My organization'

const lockKey = 6_170_502

/**
 * On an empty installation: a first organization with an admin and a credential. Null when there is one already.
 * Of several servers that start at once, one makes and tells them.
 */
export async function firstRun(core: Core, url: string): Promise<string | null> {
  if (await hasOrganizations(core.db.read)) return null
  return alone(url, lockKey, async () => ((await hasOrganizations(core.db.read)) ? null : setUp(core)))
}

async function setUp(core: Core): Promise<string> {
  const { orgId, name } = await createOrganization(core, firstOrganizationName)
  const email = 'admin@example.com'
  const password = newPassword()
  await createUser(core, orgId, { email, password, role: 'admin' })
  const draft = { name: 'First key', scopes: credentialScopes.slice(0, 5), expiresAt: null, createdBy: null }
  const [minted] = await mintCredentials(core, orgId, draft, 1)
  return [
    '',
    '  First start. These are shown only now:',
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
