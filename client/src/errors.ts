import type { components } from './generated/primary.ts'

/** One invalid field of a request: its name, a machine-readable `code` and a `message` for people. */
export type FieldProblem = components['schemas']['FieldProblem']

/** The content of an error response. */
export interface ErrorDetails {
  status: number
  type: string
  detail: string
  requestId: string | null
  fields: readonly FieldProblem[]
  retryAfterSeconds: number
  attempts: number
}

/** The base class of all error responses. `message` is the server's explanation for people. */
export class LastseenError extends Error {
  /** The HTTP status. */
  readonly status: number
  /** The machine-readable type, such as `conflict`: branch on this. Types unknown to this version are passed through. */
  readonly type: string
  /** Quote it when you report a problem: the server logs it with the request. Null when the response had none. */
  readonly requestId: string | null
  /** How often the request was sent. Above 1, the error may be the result of an earlier attempt that succeeded. */
  readonly attempts: number

  constructor({ status, type, detail, requestId, attempts }: ErrorDetails) {
    super(detail)
    this.name = new.target.name
    this.status = status
    this.type = type
    this.requestId = requestId
    this.attempts = attempts
  }
}

/** 400 without invalid fields, such as a body that is not a JSON object. Correct the request before you send it again. */
export class BadRequestError extends LastseenError {}

/** 400: one or more fields are invalid. Correct those that `fields` names. */
export class ValidationError extends LastseenError {
  readonly fields: readonly FieldProblem[]

  constructor(details: ErrorDetails) {
    super(details)
    this.fields = details.fields
  }
}

/**
 * A PATCH contained an outdated `updated_at`: another client has changed the record meanwhile. The API answers 400
 * `read_only`. Read the record and apply the change again, or use `update`, which does both.
 */
export class StaleError extends ValidationError {}

/** 401: the credential or the token is invalid, expired or revoked. Use another credential. */
export class UnauthorizedError extends LastseenError {}

/** 403: the credential lacks a scope, which `message` names, or the record belongs to another organization. */
export class ForbiddenError extends LastseenError {}

/** 404: the record does not exist or is deleted. */
export class NotFoundError extends LastseenError {}

/** 409: a key or tag is in use, or other records depend on this one. */
export class ConflictError extends LastseenError {}

/** 429 after `rateLimitAttempts` attempts. Send fewer requests, or try again after `retryAfterSeconds`. */
export class RateLimitedError extends LastseenError {
  readonly retryAfterSeconds: number

  constructor(details: ErrorDetails) {
    super(details)
    this.retryAfterSeconds = details.retryAfterSeconds
  }
}

/** 500 and above: the server or a proxy failed. A 500 was retried, and a read also after 502, 503 and 504, up to `attempts` times. */
export class ServerError extends LastseenError {}

/**
 * No response arrived, so the server may or may not have executed the request. Check its effect before you send it
 * again. `cause` holds the error of `fetch`.
 */
export class NetworkError extends Error {
  override readonly name = 'NetworkError'
}

const classByStatus: Record<number, new (details: ErrorDetails) => LastseenError> = {
  400: BadRequestError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitedError,
}

const isStale = ({ fields }: ErrorDetails): boolean =>
  fields.some(({ field, code }) => field === 'updated_at' && code === 'read_only')

export function createError(details: ErrorDetails): LastseenError {
  if (details.type === 'validation_error')
    return isStale(details) ? new StaleError(details) : new ValidationError(details)
  const ErrorClass = classByStatus[details.status] ?? (details.status >= 500 ? ServerError : LastseenError)
  return new ErrorClass(details)
}

/** The Retry-After header, a number of seconds or a date, in seconds; 1 when it is absent, not valid or in the past. */
export function retryAfterSeconds({ headers }: Response, nowMs: number): number {
  const text = headers.get('Retry-After') ?? ''
  if (/^\d+$/.test(text)) return Number(text)
  const seconds = Math.ceil((Date.parse(text) - nowMs) / 1000)
  return seconds > 1 ? seconds : 1
}

/** Parses the error body. A response without one, such as that of a proxy, gets its type from its status. */
export function parseErrorResponse(response: Response, text: string, attempts: number, nowMs: number): ErrorDetails {
  const error = parseErrorBody(text)
  return {
    status: response.status,
    type: error.type ?? `http_${response.status}`,
    detail: error.detail ?? `The server answered with status ${response.status}.`,
    requestId: error.request_id ?? response.headers.get('X-Request-ID'),
    fields: error.fields ?? [],
    retryAfterSeconds: retryAfterSeconds(response, nowMs),
    attempts,
  }
}

function parseErrorBody(text: string): Partial<components['schemas']['Error']['error']> {
  try {
    return (JSON.parse(text) as Partial<components['schemas']['Error']> | null)?.error ?? {}
  } catch {
    return {}
  }
}
