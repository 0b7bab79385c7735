import { ByteBudget } from '../../src/admission/byte-budget.ts'
import { ConnectionLimits } from '../../src/admission/connection-limits.ts'
import { FairQueue } from '../../src/admission/fair-queue.ts'
import { type BodyTimeouts, anonymousBodyMemory, bodyMemory } from '../../src/http/body.ts'
import type { DispatcherDeps } from '../../src/http/dispatcher-deps.ts'
import { createDispatcher } from '../../src/http/dispatcher.ts'
import { type AnyRoute, type ok, route } from '../../src/http/route.ts'
import { listen } from '../../src/http/server.ts'
import { memoryLimiter } from '../../src/http/rate-limit.ts'
import { systemClock } from '../../src/kernel/clock.ts'

export interface MountedServer {
  url: string
  /** The errors that the dispatcher reported as bugs. */
  bugs: unknown[]
  responses: { operation: string; status: number }[]
  /** The limits that closed connections would have exceeded. */
  limited: string[]
  close(graceMs?: number): Promise<void>
}

export const testRouteDefaults = { group: 'Tests', summary: 'A test route', access: 'any', scopes: ['ok'] } as const
export const success = { status: 200, description: 'Fine' } as const

/** A GET route whose path is its id. */
export const testRoute = (
  id: string,
  handle: () => Promise<ReturnType<typeof ok>>,
  more: Partial<AnyRoute> = {},
): AnyRoute => route({ ...testRouteDefaults, id, method: 'GET', path: `/${id}`, success, handle, ...(more as object) })

interface MountOptions extends Partial<DispatcherDeps> {
  bodyTimeouts?: Partial<BodyTimeouts>
  limits?: ConnectionLimits
}

/** Serves the given routes with the real HTTP layer; every token is valid and has the scope `ok`. */
export async function mountRoutes(
  routes: readonly AnyRoute[],
  { bodyTimeouts, limits = new ConnectionLimits(Infinity, Infinity), ...options }: MountOptions = {},
): Promise<MountedServer> {
  const bugs: unknown[] = []
  const limited: string[] = []
  const responses: MountedServer['responses'] = []
  const clock = options.clock ?? systemClock
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
        kid: '',
        credentialExpiresAtMs: Infinity,
      }),
    },
    limiter: memoryLimiter(clock),
    addTransfer: () => undefined,
    queue: new FairQueue({ maxInFlight: 32, maxWaiting: 600, timeoutMs: 8000 }),
    recordQueue: options.queue ?? new FairQueue({ maxInFlight: 32 }),
    anonymousQueue: new FairQueue({ maxInFlight: 64 }),
    passwordQueue: new FairQueue({ maxInFlight: 4 }),
    downloadQueue: new FairQueue({ maxInFlight: 4 }),
    bodyBudget: new ByteBudget(bodyMemory),
    anonymousBodyBudget: new ByteBudget(anonymousBodyMemory),
    clock,
    edgeFilter: false,
    trustProxy: false,
    onUntrustedProxy: () => undefined,
    onResponse: ({ operation }, status) => responses.push({ operation, status }),
    onBug: (_exchange, error) => bugs.push(error),
    ...options,
  })
  const server = await listen({
    tls: null,
    host: '127.0.0.1',
    port: 0,
    clock,
    handle,
    bodyTimeouts,
    limits,
    onLimit: (limit) => limited.push(limit),
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    bugs,
    responses,
    limited,
    close: (graceMs = 100) => server.close(graceMs),
  }
}
