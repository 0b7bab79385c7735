import { expect } from 'vitest'
import type { TestOrg } from './app.ts'
import { type Pair, send } from './client.ts'

/** Returns a token whose bucket is empty. The app needs a fixed clock, or the bucket refills. */
export async function drainedToken(org: TestOrg, ...scopes: string[]): Promise<{ token: string; pair: Pair }> {
  const client = org.client(...scopes)
  const pair = await client.mint()
  const token = await client.exchange(pair)
  const requests = Array.from({ length: 120 }, () => send(org.app.url, 'HEAD', '/api/v1/orgs/me', { token }))
  const statuses = new Set((await Promise.all(requests)).map((reply) => reply.status))
  expect([...statuses]).toEqual([200])
  return { token, pair }
}
