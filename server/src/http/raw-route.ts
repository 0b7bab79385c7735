import type { IncomingMessage } from 'node:http'

/** A route outside the API contract: OpenAPI documents, documentation, health checks and reader ingest. */
export interface RawRoute {
  readonly method?: 'GET' | 'POST'
  readonly path: string
  /** Name in logs and metrics, the path when absent. */
  readonly operation?: string
  /** The path contains a secret and must not be logged. */
  readonly isPathSecret?: boolean
  /** Accepts GET requests for paths that no other route serves. Such a route has no path of its own. */
  readonly acceptsUnknownPath?: (message: IncomingMessage) => boolean
  /** Web pages of other origins may not read the response. */
  readonly isSameOrigin?: boolean
  readonly render: (request: RawRequest) => Promise<RawReply>
}

export interface RawRequest {
  readonly message: IncomingMessage
  /** The path's variable segments. */
  readonly segments: readonly string[]
}

export interface RawReply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly type: string
  readonly text: string | Buffer
}
