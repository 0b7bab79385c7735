import { useSyncExternalStore } from 'react'
import { currentUser, onSessionChange } from '../api/session.ts'
import type { Role, User } from '../api/types.ts'
import { atLeast } from '../lib/roles.ts'

/** The person who is signed in. Only pages inside the shell ask. */
export function useUser(): User {
  const user = useSyncExternalStore(onSessionChange, currentUser)
  return user ?? nobody
}

/** Shown for the moment between signing out and leaving the page. */
const nobody: User = { id: 0, email: '', role: 'viewer', org: { id: 0, name: '', role: 'viewer' }, orgs: [] }

export const useCan = (role: Role): boolean => atLeast(useUser().role, role)
