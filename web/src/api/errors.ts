export interface FieldProblem {
  field: string
  code: string
  message: string
}

/** What the server refused, in its own words. */
export class ApiError extends Error {
  readonly status: number
  readonly type: string
  readonly requestId: string
  readonly fields: readonly FieldProblem[]
  readonly retryAfterSeconds: number | null

  constructor(status: number, body: unknown, response: Response | null) {
    const error = (body as { error?: Record<string, unknown> } | null)?.error ?? {}
    super(typeof error['detail'] === 'string' ? error['detail'] : 'The server did not answer as expected')
    this.status = status
    this.type = typeof error['type'] === 'string' ? error['type'] : 'internal_error'
    this.requestId = response?.headers.get('x-request-id') ?? ''
    this.fields = Array.isArray(error['fields']) ? (error['fields'] as FieldProblem[]) : []
    const wait = Number(response?.headers.get('retry-after') ?? '')
    this.retryAfterSeconds = wait > 0 ? wait : null
  }

  /** The problem of one field, if the server named it. */
  on(field: string): FieldProblem | undefined {
    return this.fields.find((one) => one.field === field)
  }
}

/** No answer at all: the network, or a server that is down. */
export class Unreachable extends Error {
  constructor() {
    super('The server cannot be reached')
  }
}
