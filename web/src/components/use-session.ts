import { useSyncExternalStore } from 'react'
import { currentUser, onSessionChange } from '../api/session.ts'
import type { Role, User } from '../api/types.ts'
import { isAtLeast } from '../lib/roles.ts'

/** The person who is signed in. Only pages inside the shell ask. */
export function useUser(): User {
  const user = useSyncExternalStore(onSessionChange, currentUser)
  return user ?? signedOutUser
}

/** Shown for the moment between signing out and leaving the page. */
const signedOutUser: User = { id: 0, email: '', role: 'viewer', org: { id: 0, name: '', role: 'viewer' }, orgs: [] }

export const useHasRole = (role: Role): boolean => isAtLeast(useUser().role, role)
