import { exclusively } from '../lib/mutex.ts'
import { ApiError, Unreachable } from './errors.ts'
import type { SignedIn, User } from './types.ts'

/**
 * The session of this browser. The refresh token, good for one use, lies in the storage that all tabs share, and only the
 * tab that holds the lock may spend it. The access token belongs to its tab and outlives a reload: were it spent for at
 * every loading, a page left in the very moment of the exchange would lose the next refresh token, and with it the session.
 */
const storageKey = 'lastseen.session'
const earlyMs = 30_000

interface Stored {
  refresh_token: string
  user: User
}

interface Access {
  token: string
  goodUntil: number
  /** Whose it is: another tab may have signed in as somebody else meanwhile. */
  owner: string
}

const ownerOf = (user: User): string => `${user.id}/${user.org.id}`

let access: Access | null = readAccess()
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

function readAccess(): Access | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as Access | null
    const user = readStored()?.user
    return kept !== null && user !== undefined && kept.owner === ownerOf(user) ? kept : null
  } catch {
    return null
  }
}

function keepAccess(next: Access | null): void {
  access = next
  if (next === null) sessionStorage.removeItem(storageKey)
  else sessionStorage.setItem(storageKey, JSON.stringify(next))
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
  keepAccess({
    token: signedIn.access_token,
    goodUntil: Date.now() + signedIn.expires_in * 1000 - earlyMs,
    owner: ownerOf(signedIn.user),
  })
  localStorage.setItem(storageKey, JSON.stringify({ refresh_token: signedIn.refresh_token, user: signedIn.user }))
  tell(signedIn.user)
}

export function endSession(): void {
  keepAccess(null)
  localStorage.removeItem(storageKey)
  tell(null)
}

/** Another tab signed in, out, or went to another organization: this one follows. */
window.addEventListener('storage', (event) => {
  if (event.key !== storageKey) return
  const stored = readStored()
  if (stored?.user.id !== current?.id || stored?.user.org.id !== current?.org.id) {
    keepAccess(null)
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
