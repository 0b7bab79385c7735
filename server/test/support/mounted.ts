import { ConnectionLimits } from '../../src/admission/connection-limits.ts'
import { FairQueue } from '../../src/admission/fair-queue.ts'
import { type DispatcherDeps, createDispatcher } from '../../src/http/dispatcher.ts'
import { type AnyRoute, type ok, route } from '../../src/http/route.ts'
import { listen } from '../../src/http/server.ts'
import { memoryLimiter } from '../../src/http/rate-limit.ts'

export interface Mounted {
  url: string
  /** What the dispatcher called a bug. */
  bugs: unknown[]
  answered: { operation: string; status: number }[]
  /** The limits that closed connections would have exceeded. */
  limited: string[]
  close(graceMs?: number): Promise<void>
}

export const common = { group: 'Tests', summary: 'A row of a test', access: 'any', scopes: ['ok'] } as const
export const success = { status: 200, description: 'Fine' } as const

/** A row that answers at its name. */
export const row = (id: string, handle: () => Promise<ReturnType<typeof ok>>, more: Partial<AnyRoute> = {}): AnyRoute =>
  route({ ...common, id, method: 'GET', path: `/${id}`, success, handle, ...(more as object) })

interface MountOptions extends Partial<DispatcherDeps> {
  requestTimeoutMs?: number
  limits?: ConnectionLimits
}

/** Rows of the test's own making behind the real HTTP layer; every token is good and holds the scope `ok`. */
export async function mountRows(
  routes: readonly AnyRoute[],
  { requestTimeoutMs, limits = new ConnectionLimits(Infinity, Infinity), ...options }: MountOptions = {},
): Promise<Mounted> {
  const bugs: unknown[] = []
  const limited: string[] = []
  const answered: Mounted['answered'] = []
  const millis = options.millis ?? Date.now
  const handle = createDispatcher({
    surfaces: [{ base: '/api/v1', routes }],
    rawRoutes: [],
    authenticator: {
      authenticate: async (token) => ({
        kind: 'credential',
        orgId: 1,
        subject: token,
        sessionId: '',
        namedScopes: ['ok'],
        scopes: new Set(['ok']),
        expiresAtMs: Infinity,
      }),
    },
    limiter: memoryLimiter(millis),
    queue: new FairQueue({ maxInFlight: 32, maxWaiting: 600, timeoutMs: 8000 }),
    anonymousQueue: new FairQueue({ maxInFlight: 64 }),
    passwordQueue: new FairQueue({ maxInFlight: 4 }),
    downloadQueue: new FairQueue({ maxInFlight: 4 }),
    millis,
    edgeFilter: false,
    trustProxy: false,
    onUntrustedProxy: () => undefined,
    onAnswered: ({ operation }, status) => answered.push({ operation, status }),
    onBug: (_exchange, error) => bugs.push(error),
    ...options,
  })
  const server = await listen({
    host: '127.0.0.1',
    port: 0,
    millis,
    handle,
    requestTimeoutMs,
    limits,
    onLimit: (limit) => limited.push(limit),
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    bugs,
    answered,
    limited,
    close: (graceMs = 100) => server.close(graceMs),
  }
}
