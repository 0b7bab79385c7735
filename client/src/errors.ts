import type { components } from './generated/primary.ts'

export type FieldProblem = components['schemas']['FieldProblem']

/** What an answer that is no success says about itself. */
export interface Refusal {
  status: number
  /** Branch on this. Types that this version does not know are passed on as they are. */
  type: string
  detail: string
  requestId: string | null
  fields: readonly FieldProblem[]
  retryAfterSeconds: number
  /** How often the request was sent, the last time included. */
  attempts: number
}

/** The server answered, and the answer is no success. */
export class LastseenError extends Error {
  readonly status: number
  readonly type: string
  readonly requestId: string | null
  readonly attempts: number

  constructor({ status, type, detail, requestId, attempts }: Refusal) {
    super(detail)
    this.name = new.target.name
    this.status = status
    this.type = type
    this.requestId = requestId
    this.attempts = attempts
  }
}

/** 400 that names no field, such as a body that is no JSON object. */
export class BadRequestError extends LastseenError {}

/** 400 with the fields that are wrong. */
export class ValidationError extends LastseenError {
  readonly fields: readonly FieldProblem[]

  constructor(refusal: Refusal) {
    super(refusal)
    this.fields = refusal.fields
  }
}

/** A PATCH carried an `updated_at` that is no longer true: somebody else wrote meanwhile. The API says 400 `read_only`. */
export class StaleError extends ValidationError {}

/** 401: the credential or the token is not, or no longer, good. */
export class UnauthorizedError extends LastseenError {}

/** 403: a scope is missing, or the record belongs to another organization. */
export class ForbiddenError extends LastseenError {}

export class NotFoundError extends LastseenError {}

/** 409: a key or tag is taken, or something still depends on the record. */
export class ConflictError extends LastseenError {}

/** 429, after as many waits as were allowed. */
export class RateLimitedError extends LastseenError {
  readonly retryAfterSeconds: number

  constructor(refusal: Refusal) {
    super(refusal)
    this.retryAfterSeconds = refusal.retryAfterSeconds
  }
}

/** 500 and above. */
export class ServerError extends LastseenError {}

/** No answer came: the request may have been carried out, or not. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError'
}

const byStatus: Record<number, new (refusal: Refusal) => LastseenError> = {
  400: BadRequestError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitedError,
}

const isStale = ({ fields }: Refusal): boolean =>
  fields.some(({ field, code }) => field === 'updated_at' && code === 'read_only')

export function errorOf(refusal: Refusal): LastseenError {
  if (refusal.type === 'validation_error')
    return isStale(refusal) ? new StaleError(refusal) : new ValidationError(refusal)
  const Kind = byStatus[refusal.status] ?? (refusal.status >= 500 ? ServerError : LastseenError)
  return new Kind(refusal)
}

/** As long as the server says, a second when it does not. */
export function retryAfterSeconds({ headers }: Response): number {
  const text = headers.get('Retry-After') ?? ''
  return /^\d+$/.test(text) ? Number(text) : 1
}

/** Reads the envelope; an answer without one, such as an edge firewall's, is told by its status. */
export function refusalOf(response: Response, text: string, attempts: number): Refusal {
  const error = envelopeOf(text)
  return {
    status: response.status,
    type: error.type ?? `http_${response.status}`,
    detail: error.detail ?? `The server answered ${response.status}.`,
    requestId: error.request_id ?? response.headers.get('X-Request-ID'),
    fields: error.fields ?? [],
    retryAfterSeconds: retryAfterSeconds(response),
    attempts,
  }
}

function envelopeOf(text: string): Partial<components['schemas']['Error']['error']> {
  try {
    return (JSON.parse(text) as Partial<components['schemas']['Error']> | null)?.error ?? {}
  } catch {
    return {}
  }
}
