import type { ByteBudget } from '../admission/byte-budget.ts'
import type { FairQueue } from '../admission/fair-queue.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Authenticator, Transfer } from './principal.ts'
import type { RateLimiter } from './rate-limit.ts'
import type { RequestContext } from './request-context.ts'
import type { AnyRoute, RawRoute } from './route.ts'

/** The routes under one base path. */
export interface Surface {
  readonly base: string
  /** Prefix of its operations' names in logs and metrics. */
  readonly label?: string
  /** The endpoints of the web app, which no OpenAPI document publishes. */
  readonly isInternal?: boolean
  readonly routes: readonly AnyRoute[]
}

export interface DispatcherDeps {
  readonly surfaces: readonly Surface[]
  readonly rawRoutes: readonly RawRoute[]
  readonly authenticator: Authenticator
  readonly limiter: RateLimiter
  /** Registers a download or upload, so that it ends when its principal is revoked. */
  readonly addTransfer: (transfer: Transfer) => void
  /** Shares the capacity of the process among organizations. */
  readonly queue: FairQueue
  /** Reads of single records, so that lists, reports and writes of other organizations never delay them. */
  readonly recordQueue: FairQueue
  /** Token exchanges and other anonymous requests, per client address, so that slow tenant requests never delay them. */
  readonly anonymousQueue: FairQueue
  /** Operations that hash passwords, queued per client address, so that they never delay other requests. */
  readonly passwordQueue: FairQueue
  /** Downloads and uploads, which take as long as their clients need to read or send them. */
  readonly downloadQueue: FairQueue
  /** The memory for the bodies of authenticated requests, per organization. */
  readonly bodyBudget: ByteBudget
  /** The memory for the bodies of anonymous requests, per client address. */
  readonly anonymousBodyBudget: ByteBudget
  readonly clock: Clock
  readonly edgeFilter: boolean
  readonly trustProxy: boolean
  /** Called once, at the first forwarded request, if `trustProxy` is off. */
  readonly onUntrustedProxy: () => void
  readonly onResponse: (context: RequestContext, status: number) => void
  readonly onBug: (context: RequestContext, error: unknown) => void
}
