import type { TestOrg } from '../../../server/test/support/app.ts'
import { type Key, mintKey } from '../../../server/test/support/auth.ts'
import type { Clock } from '../../src/clock.ts'
import { Lastseen, type LastseenOptions } from '../../src/index.ts'

/** A fake clock: `sleep` returns at once, advances the clock and records the time slept. */
export class SleepClock implements Clock {
  readonly sleeps: number[] = []
  #now = Date.UTC(2026, 4, 4, 8)

  millis = (): number => this.#now
  random = (): number => 0.5

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    this.sleeps.push(ms)
    this.#now += ms
  }

  advance(seconds: number): void {
    this.#now += seconds * 1000
  }
}

const allScopes = ['assets:read', 'assets:write', 'locations:read', 'locations:write', 'tracking:read']

export const newKey = (org: TestOrg, scopes: readonly string[] = allScopes): Promise<Key> => mintKey(org, { scopes })

/** A client with a new credential, so that its rate-limit bucket is full. */
export async function newClient(
  org: TestOrg,
  options: Partial<LastseenOptions> & { scopes?: readonly string[] } = {},
): Promise<{ client: Lastseen; key: Key }> {
  const { scopes, ...rest } = options
  const key = await newKey(org, scopes)
  const { clientId, clientSecret } = key
  return { client: new Lastseen({ baseUrl: org.app.url, clientId, clientSecret, ...rest }), key }
}

/** Returns the error that a promise was rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('the promise was not rejected')
}
