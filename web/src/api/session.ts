import { UnauthorizedError } from '../../../client/src/errors.ts'
import { withTabLock } from '../lib/tab-lock.ts'
import { apiPath } from './base-url.ts'
import { publicClient } from './client.ts'
import type { SessionResponse, User } from './types.ts'

/**
 * The session of this browser, in the storage that all tabs share. A refresh token can be used once, so only the tab
 * that holds the lock refreshes, and only after the access token has expired: a tab that is closed during the exchange
 * would lose the next refresh token, and the session would end.
 */
const storageKey = 'lastseen.session'
/** Why the last session of this browser ended, for the sign-in page. */
const endReasonKey = 'lastseen.session-end'
const expiryMarginMs = 30_000

interface StoredSession {
  refresh_token: string
  access_token: string
  /** When the access token expires, in milliseconds of this browser's clock, less a margin. */
  access_token_expires_at: number
  user: User
}

let refreshInFlight: Promise<void> | null = null
const listeners = new Set<() => void>()
let current: User | null = readStored()?.user ?? null

function readStored(): StoredSession | null {
  try {
    const text = localStorage.getItem(storageKey)
    return text === null ? null : (JSON.parse(text) as StoredSession)
  } catch {
    return null
  }
}

function setCurrentUser(user: User | null): void {
  current = user
  for (const listener of listeners) listener()
}

export const currentUser = (): User | null => current

export function onSessionChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function startSession({ user, refresh_token, access_token, expires_in }: SessionResponse): void {
  const access_token_expires_at = Date.now() + expires_in * 1000 - expiryMarginMs
  const stored: StoredSession = { refresh_token, access_token, access_token_expires_at, user }
  localStorage.setItem(storageKey, JSON.stringify(stored))
  localStorage.removeItem(endReasonKey)
  setCurrentUser(user)
}

/** Replaces the user of the current session. */
export function updateUser(user: User): void {
  const stored = readStored()
  if (stored === null) return
  localStorage.setItem(storageKey, JSON.stringify({ ...stored, user }))
  setCurrentUser(user)
}

/** The sign-in page shows the reason until the next sign-in. */
export function endSession(reason: string): void {
  localStorage.setItem(endReasonKey, reason)
  localStorage.removeItem(storageKey)
  setCurrentUser(null)
}

export const sessionEndReason = (): string | null => localStorage.getItem(endReasonKey)

/** This tab follows when another tab signs in, signs out or switches to another organization. */
window.addEventListener('storage', (event) => {
  if (event.key !== storageKey) return
  const stored = readStored()
  const identityOf = (user: User | null | undefined) => JSON.stringify([user?.id, user?.org.id, user?.email_confirmed])
  if (identityOf(stored?.user) !== identityOf(current)) setCurrentUser(stored?.user ?? null)
})

const isUsable = (stored: StoredSession, rejectedToken: string): boolean =>
  stored.access_token !== rejectedToken && stored.access_token_expires_at > Date.now()

async function refreshTokens(rejectedToken: string): Promise<void> {
  const stored = readStored()
  // Another tab has ended the session and has stored the reason.
  if (stored === null) return setCurrentUser(null)
  if (isUsable(stored, rejectedToken)) return
  try {
    const body = { refresh_token: stored.refresh_token }
    const response = await publicClient.request(apiPath('/auth/refresh'), { method: 'POST', body })
    startSession((response as { data: SessionResponse }).data)
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error
    endSession(error.message)
  }
}

/** Replaces a rejected access token. Concurrent calls, also those of other tabs, share one exchange. */
function refreshSession(rejectedToken: string): Promise<void> {
  refreshInFlight ??= withTabLock('session', () => refreshTokens(rejectedToken)).finally(() => (refreshInFlight = null))
  return refreshInFlight
}

/** A token other than the rejected one; empty when the session has ended. */
export async function accessToken(rejectedToken = ''): Promise<string> {
  const stored = readStored()
  if (stored === null || !isUsable(stored, rejectedToken)) await refreshSession(rejectedToken)
  return readStored()?.access_token ?? ''
}
