import type { FieldProblem } from '../../kernel/errors.ts'
import { type JsonType, jsonType } from '../../kernel/json.ts'

export type JsonSchema = Record<string, unknown>

/** Collects the problems of one body. A value of the wrong type aborts the validation of the remaining fields. */
export interface ValidationContext {
  readonly problems: FieldProblem[]
  aborted: boolean
}

/** A field declaration. It validates requests, types the handler's input and describes the field in OpenAPI. */
export interface Field<T> {
  readonly schema: JsonSchema
  /** Returns the accepted value, or reports a problem and returns undefined. */
  readonly parse: (value: unknown, path: string, context: ValidationContext) => T | undefined
}

export interface Optional<T> extends Field<T> {
  readonly optional: true
}

export type Shape = Record<string, Field<unknown>>

export type OptionalKeys<S extends Shape> = { [K in keyof S]: S[K] extends { optional: true } ? K : never }[keyof S]
type Value<F> = F extends Field<infer T> ? T : never

/** The type of a valid object. An absent field, null and a value are three different states. */
export type Infer<S extends Shape> = { [K in Exclude<keyof S, OptionalKeys<S>>]: Value<S[K]> } & {
  [K in OptionalKeys<S>]?: Value<S[K]>
}

export function reject(context: ValidationContext, problem: FieldProblem): undefined {
  context.problems.push(problem)
  return undefined
}

const article = (type: string): string => (/^[aeio]/.test(type) ? `an ${type}` : `a ${type}`)

export function rejectType(context: ValidationContext, path: string, expected: JsonType, value: unknown): undefined {
  const received = jsonType(value)
  if (received !== 'null') context.aborted = true
  return reject(context, {
    field: path,
    code: 'invalid_value',
    message: received === 'null' ? `${path} must not be null` : `${path} must be ${article(expected)}`,
    params: { expected_type: expected, received_type: received },
  })
}

export function optional<T>(field: Field<T>): Optional<T> {
  return { ...field, optional: true }
}

export function nullable<T>(field: Field<T>): Field<T | null> {
  return {
    schema: '$ref' in field.schema ? { allOf: [field.schema], nullable: true } : { ...field.schema, nullable: true },
    parse: (value, path, context) => (value === null ? null : field.parse(value, path, context)),
  }
}

export function described<T>(field: Field<T>, description: string, example?: unknown): Field<T> {
  return { ...field, schema: { ...field.schema, description, ...(example === undefined ? {} : { example }) } }
}

const isOptional = (field: Field<unknown>): boolean => 'optional' in field

/**
 * Validates a JSON object against a shape, in the order of the contract: first all unknown keys, sorted; then each field in
 * the order of the shape.
 */
export function parseObject<S extends Shape>(
  shape: S,
  value: Record<string, unknown>,
  prefix: string,
  context: ValidationContext,
): Infer<S> | undefined {
  const unknown = Object.keys(value)
    .filter((key) => !Object.hasOwn(shape, key))
    .sort()
  for (const key of unknown) {
    const field = prefix + key
    reject(context, { field, code: 'unknown_field', message: `${field} is not a known field` })
  }
  if (unknown.length > 0) return undefined
  const problemsBefore = context.problems.length
  const result: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(shape)) {
    if (context.aborted) return undefined
    const path = prefix + key
    if (!Object.hasOwn(value, key)) {
      if (!isOptional(field)) reject(context, { field: path, code: 'required', message: `${path} is required` })
      continue
    }
    result[key] = field.parse(value[key], path, context)
  }
  return context.problems.length === problemsBefore ? (result as Infer<S>) : undefined
}

/** Requests must not contain undeclared keys; responses may gain keys within v1. */
export function objectSchema(shape: Shape, options: { isResponse?: boolean } = {}): JsonSchema {
  const required = Object.entries(shape).filter(([, field]) => !isOptional(field))
  return {
    type: 'object',
    ...(required.length > 0 ? { required: required.map(([key]) => key) } : {}),
    properties: Object.fromEntries(Object.entries(shape).map(([key, field]) => [key, field.schema])),
    ...(options.isResponse ? {} : { additionalProperties: false }),
  }
}
