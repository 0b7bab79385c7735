import { withTabLock } from '../lib/tab-lock.ts'
import { apiUrl } from './base-url.ts'
import { ApiError, Unreachable } from './errors.ts'
import type { SessionResponse, User } from './types.ts'

/**
 * The session of this browser, in the storage that all its tabs share. The refresh token is good for one use, so only the
 * tab that holds the lock may refreshTokens it, and it is spent only when the access token has run out: a page left in the very
 * moment of the exchange would lose the next refresh token, and with it the session.
 */
const storageKey = 'lastseen.session'
const earlyMs = 30_000

interface Stored {
  refresh_token: string
  access_token: string
  /** When the access token runs out, in milliseconds of this browser's clock. */
  access_token_expires_at: number
  user: User
}

let renewing: Promise<void> | null = null
const listeners = new Set<() => void>()
let current: User | null = readStored()?.user ?? null

function readStored(): Stored | null {
  try {
    const text = localStorage.getItem(storageKey)
    return text === null ? null : (JSON.parse(text) as Stored)
  } catch {
    return null
  }
}

function notify(user: User | null): void {
  current = user
  for (const listener of listeners) listener()
}

export const currentUser = (): User | null => current

export function onSessionChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function startSession({ user, refresh_token, access_token, expires_in }: SessionResponse): void {
  const access_token_expires_at = Date.now() + expires_in * 1000 - earlyMs
  const stored: Stored = { refresh_token, access_token, access_token_expires_at, user }
  localStorage.setItem(storageKey, JSON.stringify(stored))
  notify(user)
}

export function endSession(): void {
  localStorage.removeItem(storageKey)
  notify(null)
}

/** Another tab signed in, out, or went to another organization: this one follows. */
window.addEventListener('storage', (event) => {
  if (event.key !== storageKey) return
  const stored = readStored()
  if (stored?.user.id !== current?.id || stored?.user.org.id !== current?.org.id) notify(stored?.user ?? null)
})

const isGood = (stored: Stored, refused: string): boolean =>
  stored.access_token !== refused && stored.access_token_expires_at > Date.now()

async function refreshTokens(refused: string): Promise<void> {
  const stored = readStored()
  if (stored === null) {
    endSession()
    return
  }
  if (isGood(stored, refused)) return
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, credentials: 'omit' } as const
  let response: Response
  try {
    const body = JSON.stringify({ refresh_token: stored.refresh_token })
    response = await fetch(apiUrl('/auth/refresh'), { ...init, body })
  } catch {
    throw new Unreachable()
  }
  const body: unknown = await response.json().catch(() => null)
  if (response.ok) startSession((body as { data: SessionResponse }).data)
  else if (response.status === 401) endSession()
  else throw new ApiError(response.status, body, response)
}

/** A new access token in location of the one that was refused; many calls and tabs at once cost one exchange. */
export function refreshSession(refused: string): Promise<void> {
  renewing ??= withTabLock('session', () => refreshTokens(refused)).finally(() => (renewing = null))
  return renewing
}

export async function accessToken(): Promise<string> {
  const stored = readStored()
  if (stored === null || !isGood(stored, '')) await refreshSession('')
  return readStored()?.access_token ?? ''
}
