import { oneOf, text } from '../../http/validation/fields.ts'
import type { Body } from '../../http/route.ts'
import type { Field, Shape } from '../../http/validation/schema.ts'
import { type Instant, formatMillis } from '../../kernel/instant.ts'
import { roles } from '../../kernel/scopes.ts'

export const singleLine = text({ min: 1, max: 255 })
export const integer: Field<number> = { schema: { type: 'integer', format: 'int64' }, parse: Number }
export const role = oneOf(roles)
export const password = text({ min: 1, max: 1024 })
export const newPassword = text({ min: 10, max: 1024 })
export const token = text({ min: 1, max: 1024 })

const emailPattern = /^[^\s@]+@[^\s@]+$/

export const email: Field<string> = {
  schema: { type: 'string', format: 'email', maxLength: 255 },
  parse(value, path, context) {
    const address = singleLine.parse(value, path, context)
    if (address === undefined || emailPattern.test(address)) return address
    context.problems.push({ field: path, code: 'invalid_value', message: `${path} must be an e-mail address` })
    return undefined
  },
}

export const formatNullable = (at: Instant | null): string | null => (at === null ? null : formatMillis(at))

export const jsonBody = <S extends Shape>(name: string, shape: S, example: object = {}): Body<S> => ({
  mediaType: 'application/json',
  name,
  shape,
  example,
})
