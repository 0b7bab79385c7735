import { type Role, roles } from '../api/types.ts'

/** What each role may do. The server enforces permissions; the app only hides what the server would reject. */
export const roleDescriptions: Record<Role, string> = {
  viewer: 'sees everything, changes nothing',
  operator: 'scans tags and saves the location of assets',
  manager: 'also changes assets, locations and readers',
  admin: 'also manages keys, webhooks and members',
}

export const isAtLeast = (role: Role, minimum: Role): boolean => roles.indexOf(role) >= roles.indexOf(minimum)
