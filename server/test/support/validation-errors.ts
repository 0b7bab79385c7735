import { expect } from 'vitest'
import type { Reply } from './client.ts'
import { expectApiError } from './error-response.ts'

/** An entry of `fields`; the message is compared only where the contract fixes its text. */
export interface FieldError {
  field: string
  code: string
  params?: Record<string, string | number>
  message?: string
}

/** Expects a `validation_error` with exactly these entries in this order. */
export function expectValidationError(reply: Reply, ...problems: FieldError[]): void {
  const entries = problems.map(({ field, code, params }) => ({ field, code, ...(params && { params }) }))
  expectApiError(reply, 'validation_error', { fields: entries })
  const fields = reply.json.error.fields as { message: string }[]
  problems.forEach(({ message }, index) => {
    if (message !== undefined) expect(fields[index]!.message).toBe(message)
  })
}

export const wrongType = (field: string, expected: string, received: string): FieldError => ({
  field,
  code: 'invalid_value',
  params: { expected_type: expected, received_type: received },
})

export const invalidValue = (field: string): FieldError => ({ field, code: 'invalid_value' })
export const unknownField = (field: string): FieldError => ({ field, code: 'unknown_field' })
export const readOnly = (field: string): FieldError => ({ field, code: 'read_only' })
export const invalidContext = (field: string): FieldError => ({ field, code: 'invalid_context' })
export const required = (field: string): FieldError => ({ field, code: 'required' })
export const tooShort = (field: string): FieldError => ({ field, code: 'too_short', params: { min_length: 1 } })
export const tooLong = (field: string, max: number): FieldError => ({
  field,
  code: 'too_long',
  params: { max_length: max },
})
