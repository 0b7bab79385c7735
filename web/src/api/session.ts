import { exclusively } from '../lib/mutex.ts'
import { ApiError, Unreachable } from './errors.ts'
import type { SignedIn, User } from './types.ts'

/**
 * The session of this browser. The access token lives in memory alone; the refresh token, good for one use, lies in the
 * storage that all tabs share, and only the tab that holds the lock may spend it.
 */
const storageKey = 'lastseen.session'
const earlyMs = 30_000

interface Stored {
  refresh_token: string
  user: User
}

let access: { token: string; goodUntil: number } | null = null
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

function tell(user: User | null): void {
  current = user
  for (const listener of listeners) listener()
}

export const currentUser = (): User | null => current

export function onSessionChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function beginSession(signedIn: SignedIn): void {
  access = { token: signedIn.access_token, goodUntil: Date.now() + signedIn.expires_in * 1000 - earlyMs }
  localStorage.setItem(storageKey, JSON.stringify({ refresh_token: signedIn.refresh_token, user: signedIn.user }))
  tell(signedIn.user)
}

export function endSession(): void {
  access = null
  localStorage.removeItem(storageKey)
  tell(null)
}

/** Another tab signed in, out, or went to another organization: this one follows. */
window.addEventListener('storage', (event) => {
  if (event.key !== storageKey) return
  const stored = readStored()
  if (stored?.user.id !== current?.id || stored?.user.org.id !== current?.org.id) {
    access = null
    tell(stored?.user ?? null)
  }
})

async function spend(): Promise<void> {
  const stored = readStored()
  if (stored === null) {
    endSession()
    return
  }
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, credentials: 'omit' } as const
  let response: Response
  try {
    const body = JSON.stringify({ refresh_token: stored.refresh_token })
    response = await fetch('/api/v1/auth/refresh', { ...init, body })
  } catch {
    throw new Unreachable()
  }
  const body: unknown = await response.json().catch(() => null)
  if (response.ok) beginSession((body as { data: SignedIn }).data)
  else if (response.status === 401) endSession()
  else throw new ApiError(response.status, body, response)
}

/** A new access token; many calls at once cost one exchange. */
export function renew(): Promise<void> {
  renewing ??= exclusively('session', spend).finally(() => (renewing = null))
  return renewing
}

export async function accessToken(): Promise<string> {
  if (access === null || access.goodUntil < Date.now()) await renew()
  return access?.token ?? ''
}
