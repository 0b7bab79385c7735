import { type Role, roles } from '../api/types.ts'

/** What each role may do. The server enforces permissions; the app only hides what the server would reject. */
export const roleDescriptions: Record<Role, string> = {
  viewer: 'Can see everything and change nothing.',
  operator: 'Can see everything, scan tags, and save the location of assets.',
  manager: 'Can do what an operator can, change assets, locations and readers, and import files.',
  admin: 'Can do what a manager can, and manage API keys, webhooks and members.',
}

export const roleLabel = (role: Role): string => role.charAt(0).toUpperCase() + role.slice(1)

export const isAtLeast = (role: Role, minimum: Role): boolean => roles.indexOf(role) >= roles.indexOf(minimum)
