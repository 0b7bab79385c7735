import { type Role, roles } from '../api/types.ts'

/** What people are told a role may do. The server decides; the page only leaves out what would be refused. */
export const roleDescriptions: Record<Role, string> = {
  viewer: 'sees everything, changes nothing',
  operator: 'scans and saves where things are',
  manager: 'also changes assets, locations and readers',
  admin: 'also manages keys, webhooks and members',
}

export const isAtLeast = (role: Role, wanted: Role): boolean => roles.indexOf(role) >= roles.indexOf(wanted)
