import { expect } from 'vitest'
import type { Reply } from './client.ts'
import { expectRefusal } from './error-response.ts'

/** An entry of `fields`; the message is compared only where the contract gives its words. */
export interface Problem {
  field: string
  code: string
  params?: Record<string, string | number>
  message?: string
}

/** The answer is a `validation_error` with exactly these problems in this order. */
export function expectInvalid(reply: Reply, ...problems: Problem[]): void {
  const entries = problems.map(({ field, code, params }) => ({ field, code, ...(params && { params }) }))
  expectRefusal(reply, 'validation_error', { fields: entries })
  const fields = reply.json.error.fields as { message: string }[]
  problems.forEach(({ message }, index) => {
    if (message !== undefined) expect(fields[index]!.message).toBe(message)
  })
}

export const wrongType = (field: string, expected: string, received: string): Problem => ({
  field,
  code: 'invalid_value',
  params: { expected_type: expected, received_type: received },
})

export const invalidValue = (field: string): Problem => ({ field, code: 'invalid_value' })
export const unknownField = (field: string): Problem => ({ field, code: 'unknown_field' })
export const readOnly = (field: string): Problem => ({ field, code: 'read_only' })
export const invalidContext = (field: string): Problem => ({ field, code: 'invalid_context' })
export const required = (field: string): Problem => ({ field, code: 'required' })
export const tooShort = (field: string): Problem => ({ field, code: 'too_short', params: { min_length: 1 } })
export const tooLong = (field: string, max: number): Problem => ({
  field,
  code: 'too_long',
  params: { max_length: max },
})
