import { type Instant, type ParsedInstant, isSentinel, parseRfc3339 } from '../../kernel/instant.ts'
import { type Json, codePointLength, jsonType, metadataProblem, textProblem } from '../../kernel/json.ts'
import type { FieldProblem } from '../../kernel/errors.ts'
import { maxId } from '../../kernel/id-cipher.ts'
import { type Field, type Infer, type Shape, objectSchema, parseObject, reject, rejectType } from './schema.ts'

interface TextBounds {
  min?: number
  max: number
  lineBreaks?: boolean
}

const characters = (count: number): string => `${count} character${count === 1 ? '' : 's'}`

export function text({ min = 0, max, lineBreaks = false }: TextBounds): Field<string> {
  return {
    schema: { type: 'string', ...(min > 0 ? { minLength: min } : {}), maxLength: max },
    parse(value, path, context) {
      if (typeof value !== 'string') return rejectType(context, path, 'string', value)
      if (textProblem(value, { lineBreaks }) !== null)
        return reject(context, {
          field: path,
          code: 'invalid_value',
          message: `${path} contains a character that is not allowed`,
        })
      const length = codePointLength(value)
      if (length < min)
        return reject(context, {
          field: path,
          code: 'too_short',
          message: `${path} must be at least ${characters(min)}`,
          params: { min_length: min },
        })
      if (length > max)
        return reject(context, {
          field: path,
          code: 'too_long',
          message: `${path} must be at most ${characters(max)}`,
          params: { max_length: max },
        })
      return value
    },
  }
}

export const boolean: Field<boolean> = {
  schema: { type: 'boolean' },
  parse: (value, path, context) => (typeof value === 'boolean' ? value : rejectType(context, path, 'boolean', value)),
}

/** A reference to another record. Any safe integer is accepted; whether the record exists is checked later. */
export const id: Field<number> = {
  schema: { type: 'integer', format: 'int64', minimum: 1, maximum: maxId },
  parse(value, path, context) {
    if (jsonType(value) !== 'integer') return rejectType(context, path, 'integer', value)
    if (!Number.isSafeInteger(value))
      return reject(context, { field: path, code: 'invalid_value', message: `${path} is out of range` })
    return value as number
  },
}

/** Any RFC 3339 time. Whether a sentinel date is accepted is decided later, by comparison with the stored record. */
export const parsedInstant: Field<ParsedInstant> = {
  schema: { type: 'string', format: 'date-time' },
  parse(value, path, context) {
    if (typeof value !== 'string') return rejectType(context, path, 'string', value)
    const parsed = parseRfc3339(value)
    if (parsed !== null) return parsed
    return reject(context, { field: path, code: 'invalid_value', message: `${path} must be an RFC 3339 timestamp` })
  },
}

export const sentinelProblem = (field: string): FieldProblem => ({
  field,
  code: 'invalid_value',
  message: `${field} must be a real date`,
})

export const instant: Field<Instant> = {
  schema: parsedInstant.schema,
  parse(value, path, context) {
    const parsed = parsedInstant.parse(value, path, context)
    if (parsed === undefined) return undefined
    return isSentinel(parsed) ? reject(context, sentinelProblem(path)) : parsed.instant
  },
}

export type JsonObject = { [key: string]: Json }

export const jsonObject: Field<JsonObject> = {
  schema: { type: 'object', additionalProperties: true },
  parse(value, path, context) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return rejectType(context, path, 'object', value)
    const invalid = metadataProblem(value as JsonObject, path)
    if (invalid === null) return value as JsonObject
    const content =
      invalid.problem === 'number' ? 'a number that cannot be stored exactly' : 'a character that is not allowed'
    return reject(context, {
      field: invalid.path,
      code: 'invalid_value',
      message: `${invalid.path} contains ${content}`,
    })
  },
}

/** One of a set of values. The set may grow within v1 unless it is closed. */
export function oneOf<const T extends string>(values: readonly T[], { isClosed = false } = {}): Field<T> {
  return {
    schema: { type: 'string', [isClosed ? 'enum' : 'x-extensible-enum']: values },
    parse(value, path, context) {
      if (typeof value !== 'string') return rejectType(context, path, 'string', value)
      const known = values.find((candidate) => candidate === value)
      if (known !== undefined) return known
      return reject(context, {
        field: path,
        code: 'invalid_value',
        message: `${path} must be one of ${values.join(', ')}`,
      })
    },
  }
}

export function listOf<T>(
  item: Field<T>,
  { min = 0, max = Infinity }: { min?: number; max?: number } = {},
): Field<T[]> {
  return {
    schema: {
      type: 'array',
      items: item.schema,
      ...(min > 0 ? { minItems: min } : {}),
      ...(max < Infinity ? { maxItems: max } : {}),
    },
    parse(value, path, context) {
      if (!Array.isArray(value)) return rejectType(context, path, 'array', value)
      const bounds = { field: path, message: `${path} must hold ${min} to ${max} entries` }
      if (value.length < min) return reject(context, { ...bounds, code: 'too_short', params: { min_length: min } })
      if (value.length > max) return reject(context, { ...bounds, code: 'too_long', params: { max_length: max } })
      const problemsBefore = context.problems.length
      const items: T[] = []
      for (const [index, entry] of value.entries()) {
        if (context.aborted) return undefined
        items.push(item.parse(entry, `${path}[${index}]`, context) as T)
      }
      return context.problems.length === problemsBefore ? items : undefined
    },
  }
}

export function object<S extends Shape>(shape: S): Field<Infer<S>> {
  return {
    schema: objectSchema(shape),
    parse(value, path, context) {
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        return rejectType(context, path, 'object', value)
      return parseObject(shape, value as Record<string, unknown>, `${path}.`, context)
    },
  }
}

/** A read-only field that a client may send back unchanged. It is compared with the stored record later. */
export function passthrough(schema: Field<unknown>['schema']): Field<unknown> {
  return { schema: { ...schema, readOnly: false }, parse: (value) => value }
}

/** A field that another operation sets and that is rejected whenever a client sends it. */
export function readOnly(schema: Field<unknown>['schema']): Field<never> {
  return {
    schema: { ...schema, readOnly: true },
    parse: (_value, path, context) =>
      reject(context, { field: path, code: 'read_only', message: `${path} is read-only` }),
  }
}
