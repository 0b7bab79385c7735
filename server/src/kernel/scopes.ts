export const scopes = [
  'assets:read',
  'assets:write',
  'locations:read',
  'locations:write',
  'tracking:read',
  'tracking:write',
  'scans:read',
  'keys:admin',
  'webhooks:admin',
  'members:admin',
] as const

export type Scope = (typeof scopes)[number]

/** The scopes that a credential may have. Only sessions may administer an organization. */
export const credentialScopes: readonly Scope[] = scopes.filter((scope) => !scope.endsWith(':admin'))

const implied: Partial<Record<Scope, readonly Scope[]>> = {
  'assets:write': ['tracking:write'],
  'scans:read': ['tracking:read'],
}

/** Returns the named scopes and the scopes that they imply. */
export function grantedScopes(named: readonly string[]): ReadonlySet<string> {
  const granted = new Set<string>(named)
  for (const scope of named) for (const impliedScope of implied[scope as Scope] ?? []) granted.add(impliedScope)
  return granted
}

export const roles = ['viewer', 'operator', 'manager', 'admin'] as const

export type Role = (typeof roles)[number]

const viewer: readonly Scope[] = ['assets:read', 'locations:read', 'tracking:read']
const operator: readonly Scope[] = [...viewer, 'tracking:write']
const manager: readonly Scope[] = [...operator, 'assets:write', 'locations:write']
const admin: readonly Scope[] = [...manager, 'keys:admin', 'webhooks:admin', 'members:admin']

export const roleScopes: Record<Role, readonly Scope[]> = { viewer, operator, manager, admin }
