import type { FieldProblem } from '../../kernel/errors.ts'
import { type JsonType, jsonType } from '../../kernel/json.ts'

export type JsonSchema = Record<string, unknown>

/** Collects what is wrong with one body. A value of the wrong type ends the search: what follows would be guesswork. */
export interface ValidationContext {
  readonly problems: FieldProblem[]
  aborted: boolean
}

/** One field, written once: it checks requests, types the handler and describes itself in OpenAPI. */
export interface Field<T> {
  readonly schema: JsonSchema
  /** The accepted value, or undefined after reporting why not. */
  readonly parse: (value: unknown, at: string, report: ValidationContext) => T | undefined
}

export interface Optional<T> extends Field<T> {
  readonly optional: true
}

export type Shape = Record<string, Field<unknown>>

export type OptionalKeys<S extends Shape> = { [K in keyof S]: S[K] extends { optional: true } ? K : never }[keyof S]
type Value<F> = F extends Field<infer T> ? T : never

/** What a shape admits: absent, null and a value stay three different things. */
export type Infer<S extends Shape> = { [K in Exclude<keyof S, OptionalKeys<S>>]: Value<S[K]> } & {
  [K in OptionalKeys<S>]?: Value<S[K]>
}

export function reject(report: ValidationContext, problem: FieldProblem): undefined {
  report.problems.push(problem)
  return undefined
}

const article = (type: string): string => (/^[aeio]/.test(type) ? `an ${type}` : `a ${type}`)

export function rejectType(report: ValidationContext, at: string, expected: JsonType, value: unknown): undefined {
  const received = jsonType(value)
  if (received !== 'null') report.aborted = true
  return reject(report, {
    field: at,
    code: 'invalid_value',
    message: received === 'null' ? `${at} must not be null` : `${at} must be ${article(expected)}`,
    params: { expected_type: expected, received_type: received },
  })
}

export function optional<T>(field: Field<T>): Optional<T> {
  return { ...field, optional: true }
}

export function nullable<T>(field: Field<T>): Field<T | null> {
  return {
    schema: '$ref' in field.schema ? { allOf: [field.schema], nullable: true } : { ...field.schema, nullable: true },
    parse: (value, at, report) => (value === null ? null : field.parse(value, at, report)),
  }
}

export function described<T>(field: Field<T>, description: string, example?: unknown): Field<T> {
  return { ...field, schema: { ...field.schema, description, ...(example === undefined ? {} : { example }) } }
}

const isOptional = (field: Field<unknown>): boolean => 'optional' in field

/**
 * Reads a JSON object against a shape, in the order of the contract: first all unknown keys, sorted; then each field
 * in the order the shape lists them.
 */
export function parseObject<S extends Shape>(
  shape: S,
  value: Record<string, unknown>,
  prefix: string,
  report: ValidationContext,
): Infer<S> | undefined {
  const unknown = Object.keys(value)
    .filter((key) => !Object.hasOwn(shape, key))
    .sort()
  for (const key of unknown) {
    const field = prefix + key
    reject(report, { field, code: 'unknown_field', message: `${field} is not a known field` })
  }
  if (unknown.length > 0) return undefined
  const before = report.problems.length
  const result: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(shape)) {
    if (report.aborted) return undefined
    const at = prefix + key
    if (!Object.hasOwn(value, key)) {
      if (!isOptional(field)) reject(report, { field: at, code: 'required', message: `${at} is required` })
      continue
    }
    result[key] = field.parse(value[key], at, report)
  }
  return report.problems.length === before ? (result as Infer<S>) : undefined
}

/** Requests may carry no key that nobody declared; answers may grow. */
export function objectSchema(shape: Shape, options: { isAnswer?: boolean } = {}): JsonSchema {
  const required = Object.entries(shape).filter(([, field]) => !isOptional(field))
  return {
    type: 'object',
    ...(required.length > 0 ? { required: required.map(([key]) => key) } : {}),
    properties: Object.fromEntries(Object.entries(shape).map(([key, field]) => [key, field.schema])),
    ...(options.isAnswer ? {} : { additionalProperties: false }),
  }
}
