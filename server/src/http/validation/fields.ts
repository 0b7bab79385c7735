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
    parse(value, at, report) {
      if (typeof value !== 'string') return rejectType(report, at, 'string', value)
      if (textProblem(value, { lineBreaks }) !== null)
        return reject(report, {
          field: at,
          code: 'invalid_value',
          message: `${at} contains a character that is not allowed`,
        })
      const length = codePointLength(value)
      if (length < min)
        return reject(report, {
          field: at,
          code: 'too_short',
          message: `${at} must be at least ${characters(min)}`,
          params: { min_length: min },
        })
      if (length > max)
        return reject(report, {
          field: at,
          code: 'too_long',
          message: `${at} must be at most ${characters(max)}`,
          params: { max_length: max },
        })
      return value
    },
  }
}

export const boolean: Field<boolean> = {
  schema: { type: 'boolean' },
  parse: (value, at, report) => (typeof value === 'boolean' ? value : rejectType(report, at, 'boolean', value)),
}

/** A reference to another record: any integer is a question that can be asked, whether or not it resolves. */
export const id: Field<number> = {
  schema: { type: 'integer', format: 'int64', minimum: 1, maximum: maxId },
  parse(value, at, report) {
    if (jsonType(value) !== 'integer') return rejectType(report, at, 'integer', value)
    if (!Number.isSafeInteger(value))
      return reject(report, { field: at, code: 'invalid_value', message: `${at} is out of range` })
    return value as number
  },
}

/** Any RFC 3339 time. Whether a sentinel date is accepted is decided later, by comparison with the stored record. */
export const parsedInstant: Field<ParsedInstant> = {
  schema: { type: 'string', format: 'date-time' },
  parse(value, at, report) {
    if (typeof value !== 'string') return rejectType(report, at, 'string', value)
    const parsed = parseRfc3339(value)
    if (parsed !== null) return parsed
    return reject(report, { field: at, code: 'invalid_value', message: `${at} must be an RFC 3339 timestamp` })
  },
}

export const sentinelProblem = (field: string): FieldProblem => ({
  field,
  code: 'invalid_value',
  message: `${field} must be a real date`,
})

export const instant: Field<Instant> = {
  schema: parsedInstant.schema,
  parse(value, at, report) {
    const parsed = parsedInstant.parse(value, at, report)
    if (parsed === undefined) return undefined
    return isSentinel(parsed) ? reject(report, sentinelProblem(at)) : parsed.instant
  },
}

export type JsonObject = { [key: string]: Json }

export const jsonObject: Field<JsonObject> = {
  schema: { type: 'object', additionalProperties: true },
  parse(value, at, report) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return rejectType(report, at, 'object', value)
    const bad = metadataProblem(value as JsonObject, at)
    if (bad === null) return value as JsonObject
    const what = bad.problem === 'number' ? 'a number that cannot be stored exactly' : 'a character that is not allowed'
    return reject(report, { field: bad.path, code: 'invalid_value', message: `${bad.path} contains ${what}` })
  },
}

/** One of a set that may grow within v1, unless it is closed. */
export function oneOf<const T extends string>(values: readonly T[], { isClosed = false } = {}): Field<T> {
  return {
    schema: { type: 'string', [isClosed ? 'enum' : 'x-extensible-enum']: values },
    parse(value, at, report) {
      if (typeof value !== 'string') return rejectType(report, at, 'string', value)
      const known = values.find((candidate) => candidate === value)
      if (known !== undefined) return known
      return reject(report, {
        field: at,
        code: 'invalid_value',
        message: `${at} must be one of ${values.join(', ')}`,
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
    parse(value, at, report) {
      if (!Array.isArray(value)) return rejectType(report, at, 'array', value)
      const bounds = { field: at, message: `${at} must hold ${min} to ${max} entries` }
      if (value.length < min) return reject(report, { ...bounds, code: 'too_short', params: { min_length: min } })
      if (value.length > max) return reject(report, { ...bounds, code: 'too_long', params: { max_length: max } })
      const before = report.problems.length
      const items: T[] = []
      for (const [index, entry] of value.entries()) {
        if (report.aborted) return undefined
        items.push(item.parse(entry, `${at}[${index}]`, report) as T)
      }
      return report.problems.length === before ? items : undefined
    },
  }
}

export function record<S extends Shape>(shape: S): Field<Infer<S>> {
  return {
    schema: objectSchema(shape),
    parse(value, at, report) {
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        return rejectType(report, at, 'object', value)
      return parseObject(shape, value as Record<string, unknown>, `${at}.`, report)
    },
  }
}

/** A field a client may send back as it was read: whether it differs is judged later, against the stored record. */
export function passthrough(schema: Field<unknown>['schema']): Field<unknown> {
  return { schema: { ...schema, readOnly: false }, parse: (value) => value }
}

/** A field that describes another resource's doing and is refused as soon as it appears. */
export function readOnly(schema: Field<unknown>['schema']): Field<never> {
  return {
    schema: { ...schema, readOnly: true },
    parse: (_value, at, report) => reject(report, { field: at, code: 'read_only', message: `${at} is read-only` }),
  }
}
