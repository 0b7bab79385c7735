import { useSyncExternalStore } from 'react'
import { currentUser, onSessionChange } from '../api/session.ts'
import type { Role, User } from '../api/types.ts'
import { isAtLeast } from '../lib/roles.ts'

/** The signed-in user. Used only by pages inside the shell, which requires a session. */
export function useUser(): User {
  const user = useSyncExternalStore(onSessionChange, currentUser)
  return user ?? signedOutUser
}

/** The user of a page that is rendered between the sign-out and the redirect to the sign-in page. */
const signedOutUser: User = {
  id: 0,
  email: '',
  email_confirmed: true,
  role: 'viewer',
  org: { id: 0, name: '', role: 'viewer' },
  orgs: [],
}

export const useHasRole = (role: Role): boolean => isAtLeast(useUser().role, role)
