/** The complete list of public errors. The kind determines status and title. */
export const errorKinds = {
  validation_error: { status: 400, title: 'Validation failed' },
  bad_request: { status: 400, title: 'Bad request' },
  unauthorized: { status: 401, title: 'Unauthorized' },
  forbidden: { status: 403, title: 'Forbidden' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  conflict: { status: 409, title: 'Conflict' },
  gone: { status: 410, title: 'Gone' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  missing_org_context: { status: 422, title: 'Missing org context' },
  rate_limited: { status: 429, title: 'Rate limited' },
  internal_error: { status: 500, title: 'Internal server error' },
} as const

export type ErrorKind = keyof typeof errorKinds

export const fieldCodes = [
  'required',
  'invalid_value',
  'unknown_field',
  'invalid_context',
  'too_short',
  'too_long',
  'too_small',
  'too_large',
  'fk_not_found',
  'ambiguous_fields',
  'read_only',
] as const

export interface FieldProblem {
  field: string
  code: (typeof fieldCodes)[number]
  message: string
  params?: Record<string, string | number>
}

/** The kinds of records whose keys are unique. */
export type KeyedNoun = 'Asset' | 'Location'

/**
 * An error that is sent to the client. Any other exception is a bug and is answered with `internal_error`. No stack trace is
 * captured, because that would take an eighth of the time it takes to reject a request.
 */
export class ApiError extends Error {
  readonly kind: ErrorKind
  readonly fields: readonly FieldProblem[] | undefined
  readonly headers: Readonly<Record<string, string>>
  /** Set when another record has the key, because the surfaces have different names for the key. */
  readonly keyTakenBy: KeyedNoun | undefined

  constructor(
    kind: ErrorKind,
    detail: string,
    extra: { fields?: readonly FieldProblem[]; headers?: Record<string, string>; keyTakenBy?: KeyedNoun } = {},
  ) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(detail)
    Error.stackTraceLimit = stackTraceLimit
    this.kind = kind
    this.fields = extra.fields
    this.headers = extra.headers ?? {}
    this.keyTakenBy = extra.keyTakenBy
  }
}

const bearerChallenge = { 'WWW-Authenticate': 'Bearer realm="service-api"' }

export const apiError = {
  invalid(...problems: [FieldProblem, ...FieldProblem[]]): ApiError {
    const more = problems.length - 1
    const suffix = more === 0 ? '' : ` (and ${more} more validation errors)`
    return new ApiError('validation_error', problems[0].message + suffix, { fields: problems })
  },
  badRequest: (detail: string) => new ApiError('bad_request', detail),
  unauthorized: (detail: string) => new ApiError('unauthorized', detail, { headers: bearerChallenge }),
  forbidden: (detail: string) => new ApiError('forbidden', detail),
  missingScope: (scope: string) => new ApiError('forbidden', `Missing required scope: ${scope}`),
  notFound: (noun: string) => new ApiError('not_found', `${noun} not found`),
  notFoundHere: (base: string) => new ApiError('not_found', `Path not found here; it is served under ${base}`),
  methodNotAllowed: (allowed: readonly string[]) =>
    new ApiError('method_not_allowed', `Allowed methods: ${allowed.join(', ')}`, {
      headers: { Allow: allowed.join(', ') },
    }),
  conflict: (detail: string) => new ApiError('conflict', detail),
  keyTaken: (noun: KeyedNoun, key = 'external_key') =>
    new ApiError('conflict', `${noun} with this ${key} already exists`, { keyTakenBy: noun }),
  gone: () => new ApiError('gone', 'This endpoint was removed on the date in the Sunset header'),
  unsupportedMediaType: (detail: string) => new ApiError('unsupported_media_type', detail),
  rateLimited(seconds: number, reason = 'Rate limit exceeded'): ApiError {
    const wholeSeconds = Math.max(1, Math.ceil(seconds))
    const unit = wholeSeconds === 1 ? 'second' : 'seconds'
    return new ApiError('rate_limited', `${reason}; retry after ${wholeSeconds} ${unit}`, {
      headers: { 'Retry-After': String(wholeSeconds) },
    })
  },
  /** A limit on concurrent use. When a slot will be free is unknown, so Retry-After is constant. */
  tooManyOpen: (detail: string) => new ApiError('rate_limited', detail, { headers: { 'Retry-After': '5' } }),
  tooCostly: () =>
    new ApiError(
      'rate_limited',
      'The request takes too much time or space; narrow it, for example with filters, a shorter period or a smaller limit',
      { headers: { 'Retry-After': '5' } },
    ),
  locked: () =>
    new ApiError('rate_limited', 'Another request is changing the same records; retry after 1 second', {
      headers: { 'Retry-After': '1' },
    }),
  busy: () =>
    new ApiError('rate_limited', 'The service is busy; retry after 1 second', { headers: { 'Retry-After': '1' } }),
}

/** Throws one error with all collected problems, if there are any. */
export function throwIfAny(problems: readonly FieldProblem[]): void {
  const [first, ...others] = problems
  if (first !== undefined) throw apiError.invalid(first, ...others)
}
