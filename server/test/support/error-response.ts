import { expect } from 'vitest'

/** The contract's table of error types. */
export const errorTypes = {
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

export type ErrorType = keyof typeof errorTypes

export const ulidPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/

interface Answered {
  status: number
  headers: Record<string, string | undefined>
  text: string
  json: unknown
}

/** Checks the headers that every response carries, errors included. */
export function expectCommonHeaders({ headers }: Pick<Answered, 'headers'>): void {
  expect(headers['x-request-id']).toMatch(/./)
  expect(headers['ratelimit-policy']).toBe('60;w=60')
  expect(headers['x-ratelimit-limit']).toBe('120')
  expect(Number(headers['x-ratelimit-remaining'])).toBeGreaterThanOrEqual(0)
  expect(Number(headers['x-ratelimit-remaining'])).toBeLessThanOrEqual(120)
  expect(headers['x-ratelimit-remaining']).toMatch(/^\d+$/)
  expect(headers['x-ratelimit-reset']).toMatch(/^\d{10}$/)
  expect(headers['access-control-allow-origin']).toBe('*')
  expect(headers['set-cookie']).toBeUndefined()
}

export interface FieldEntry {
  field: string
  code: string
  params?: Record<string, unknown>
}

interface Expected {
  detail?: string
  instance?: string
  fields?: readonly FieldEntry[]
}

/** Checks an error response against all rules of the contract's chapter on errors. */
export function expectApiError(reply: Answered, type: ErrorType, expected: Expected = {}): void {
  const { status, title } = errorTypes[type]
  const shown = `${reply.status} ${reply.text}`
  expect(reply.status, shown).toBe(status)
  expect(reply.headers['content-type'], shown).toBe('application/json')
  expectCommonHeaders(reply)
  const { error, ...others } = reply.json as { error: Record<string, unknown> }
  expect(others).toEqual({})
  const { fields, ...envelope } = error
  expect(envelope, shown).toEqual({
    type,
    title,
    status,
    detail: expected.detail ?? expect.stringMatching(/./),
    instance: expected.instance ?? expect.any(String),
    request_id: reply.headers['x-request-id'],
  })
  if (type === 'validation_error') expectFields(fields, String(envelope['detail']), expected.fields)
  else expect(fields, shown).toBeUndefined()
  expect(reply.headers['www-authenticate']).toBe(type === 'unauthorized' ? 'Bearer realm="service-api"' : undefined)
  expect(reply.headers['allow'] !== undefined).toBe(type === 'method_not_allowed')
  if (type === 'rate_limited') expect(reply.headers['retry-after']).toMatch(/^[1-9]\d*$/)
  else expect(reply.headers['retry-after']).toBeUndefined()
}

/** The parts of an entry that the contract fixes; the text of the message is free. */
export const withoutMessage = ({ field, code, params }: FieldEntry): FieldEntry =>
  params === undefined ? { field, code } : { field, code, params }

/** Checks the format of the entries and that the detail mirrors the first entry's message. */
function expectFields(given: unknown, detail: string, expected: readonly FieldEntry[] | undefined): void {
  const fields = given as (FieldEntry & { message: string })[]
  expect(fields.length).toBeGreaterThan(0)
  for (const entry of fields) {
    const { field, code, message, params, ...others } = entry
    expect([typeof field, typeof code, typeof message]).toEqual(['string', 'string', 'string'])
    expect(params === undefined || typeof params === 'object').toBe(true)
    expect(others).toEqual({})
  }
  const more = fields.length - 1
  expect(detail).toBe(fields[0]!.message + (more === 0 ? '' : ` (and ${more} more validation errors)`))
  if (expected !== undefined) expect(fields.map(withoutMessage)).toEqual(expected)
}
