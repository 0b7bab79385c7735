import { type FieldProblem, throwIfAny } from '../../kernel/errors.ts'
import { type Instant, parseRfc3339 } from '../../kernel/instant.ts'
import { codePointLength, textProblem } from '../../kernel/json.ts'
import { maxId } from '../../kernel/id-cipher.ts'
import type { SortTerm } from '../../kernel/page.ts'
import type { JsonSchema } from './schema.ts'

export type ParseResult<T> = { value: T } | { problem: Omit<FieldProblem, 'field'> }

export interface Parameter<T> {
  readonly schema: JsonSchema
  readonly description?: string
  readonly repeatable: boolean
  parse(text: string, name: string): ParseResult<T>
  /** The value when the parameter is absent. */
  readonly fallback?: T
}

type ParameterValue<P> =
  P extends Parameter<infer T>
    ? P extends { repeatable: true }
      ? T[] | undefined
      : P extends { fallback: unknown }
        ? T
        : T | undefined
    : never

export type QueryOf<Q extends object> = { [K in keyof Q]: ParameterValue<Q[K]> }

const invalid = (message: string): { problem: Omit<FieldProblem, 'field'> } => ({
  problem: { code: 'invalid_value', message },
})

/** Digits with an optional minus: no plus, no leading zero, no exponent, no spaces. */
const integerPattern = /^(0|-?[1-9]\d*)$/

function parseInteger(text: string, name: string, min: number, max: number): ParseResult<number> {
  if (!integerPattern.test(text)) return invalid(`${name} must be an integer`)
  const value = Number(text)
  if (value < min)
    return { problem: { code: 'too_small', message: `${name} must be at least ${min}`, params: { min } } }
  if (value > max) return { problem: { code: 'too_large', message: `${name} must be at most ${max}`, params: { max } } }
  return { value }
}

/** A whole number between two bounds. */
export function integerParam(min: number, max: number, fallback: number) {
  return {
    schema: { type: 'integer', minimum: min, maximum: max, default: fallback },
    repeatable: false,
    fallback,
    parse: (text, name) => parseInteger(text, name, min, max),
  } as const satisfies Parameter<number>
}

export const limit = {
  schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
  repeatable: false,
  fallback: 50,
  parse: (text, name) => parseInteger(text, name, 1, 200),
} as const satisfies Parameter<number>

export const offset = {
  schema: { type: 'integer', minimum: 0, default: 0 },
  repeatable: false,
  fallback: 0,
  // Every offset beyond the last record returns an empty page, so an offset too large for the database is clamped.
  parse(text, name) {
    const result = parseInteger(text, name, 0, Infinity)
    return 'value' in result ? { value: Math.min(result.value, maxId) } : result
  },
} as const satisfies Parameter<number>

export const booleanParam = {
  schema: { type: 'boolean' },
  repeatable: false,
  parse: (text, name) =>
    text === 'true' || text === 'false' ? { value: text === 'true' } : invalid(`${name} must be true or false`),
} as const satisfies Parameter<boolean>

/** One of a set of values, which may grow within v1. */
export function choiceParam<const T extends string, const F extends T | undefined>(
  values: readonly T[],
  fallback: F,
  description: string,
) {
  const parse = (text: string, name: string): ParseResult<T> => {
    const value = values.find((candidate) => candidate === text)
    return value === undefined ? invalid(`${name} must be one of ${values.join(', ')}`) : { value }
  }
  const schema = {
    type: 'string',
    'x-extensible-enum': values,
    ...(fallback === undefined ? {} : { default: fallback }),
  }
  return {
    schema,
    description,
    repeatable: false,
    fallback: fallback as F extends undefined ? T : F & T,
    parse,
  } as const
}

const parseText = (text: string, name: string): ParseResult<string> =>
  textProblem(text) === null ? { value: text } : invalid(`${name} contains a character that is not allowed`)

const maxTextLength = 255

function parseBoundedText(text: string, name: string): ParseResult<string> {
  if (codePointLength(text) <= maxTextLength) return parseText(text, name)
  const message = `${name} must be at most ${maxTextLength} characters`
  return { problem: { code: 'too_long', message, params: { max_length: maxTextLength } } }
}

export const searchParam = {
  schema: { type: 'string', maxLength: maxTextLength },
  description: 'Case-insensitive substring; `%` and `_` are ordinary characters.',
  repeatable: false,
  parse: parseBoundedText,
} as const satisfies Parameter<string>

/** A natural key, in a query or in a path. */
function parseKey(text: string, name: string): ParseResult<string> {
  if (text === '')
    return { problem: { code: 'too_short', message: `${name} must not be empty`, params: { min_length: 1 } } }
  return parseBoundedText(text, name)
}

export const keysParam = {
  schema: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 255 } },
  description: 'Repeat the parameter to match any of several values.',
  repeatable: true,
  parse: parseKey,
} as const satisfies Parameter<string>

const parseId = (text: string, name: string): ParseResult<number> => parseInteger(text, name, 1, maxId)

export const idsParam = {
  schema: { type: 'array', items: { type: 'integer', format: 'int64', minimum: 1, maximum: maxId } },
  description: 'Repeat the parameter to match any of several values.',
  repeatable: true,
  parse: parseId,
} as const satisfies Parameter<number>

export const timestampParam = {
  schema: { type: 'string', format: 'date-time' },
  repeatable: false,
  parse(text, name) {
    const parsed = parseRfc3339(text, { maxFractionDigits: 9 })
    return parsed === null ? invalid(`Invalid ${name} timestamp; expected RFC 3339`) : { value: parsed.instant }
  },
} as const satisfies Parameter<Instant>

export function sortParam<const F extends string>(fields: readonly F[], fallback: readonly SortTerm<F>[]) {
  return {
    schema: { type: 'string', example: fields[0] },
    description: `Comma-separated; prefix \`-\` for descending. Fields: ${fields.join(', ')}.`,
    repeatable: false,
    fallback,
    parse(text, name): ParseResult<readonly SortTerm<F>[]> {
      const terms: SortTerm<F>[] = []
      for (const part of text.split(',')) {
        const descending = part.startsWith('-')
        const field = fields.find((candidate) => candidate === (descending ? part.slice(1) : part))
        if (field === undefined) return invalid(`${name} must name one of ${fields.join(', ')}`)
        if (!terms.some((term) => term.field === field)) terms.push({ field, descending })
      }
      return { value: terms }
    },
  } as const satisfies Parameter<readonly SortTerm<F>[]>
}

export interface QuerySpec<Q extends object> {
  readonly parameters: Q
  /** Two names for one filter: giving both is ambiguous. */
  readonly pairs?: readonly (readonly [keyof Q & string, keyof Q & string])[]
}

function decode(part: string): string | null {
  if (!part.includes('%') && !part.includes('+')) return part
  try {
    return decodeURIComponent(part.replaceAll('+', ' '))
  } catch {
    return null
  }
}

/** Visits every `name=value` pair in order. The value is null when it is not percent-encoded UTF-8. */
function eachOccurrence(queryText: string, visit: (name: string, value: string | null) => void): void {
  for (let start = 0, end; start < queryText.length; start = end + 1) {
    end = queryText.indexOf('&', start)
    if (end === -1) end = queryText.length
    if (end === start) continue
    let equals = queryText.indexOf('=', start)
    if (equals === -1 || equals > end) equals = end
    const name = queryText.slice(start, equals)
    visit(decode(name) ?? name, equals === end ? '' : decode(queryText.slice(equals + 1, end)))
  }
}

/**
 * Parses the query in the order of the URL and reports every problem. A name that is not declared here but is in
 * `knownParameters` is reported as not allowed on this operation instead of unknown.
 */
export function parseQuery<Q extends object>(
  queryText: string,
  spec: QuerySpec<Q> | undefined,
  knownParameters: ReadonlySet<string>,
): QueryOf<Q> {
  const parameters = (spec?.parameters ?? {}) as Record<string, Parameter<unknown>>
  const values: Record<string, unknown> = {}
  const problems: FieldProblem[] = []
  const seen = new Set<string>()
  eachOccurrence(queryText, (name, text) => {
    const isFirst = !seen.has(name)
    if (isFirst) seen.add(name)
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (parameter === undefined) {
      if (isFirst) problems.push(unknownParameter(name, spec === undefined && knownParameters.has(name)))
    } else if (!isFirst && !parameter.repeatable) {
      problems.push({ field: name, code: 'invalid_value', message: `${name} may be given only once` })
    } else if (text === null) {
      problems.push({ field: name, code: 'invalid_value', message: `${name} is not percent-encoded UTF-8` })
    } else {
      const conflicting = isFirst ? conflictingParameter(spec, name, queryText) : undefined
      if (conflicting !== undefined)
        problems.push({
          field: name,
          code: 'ambiguous_fields',
          message: `${name} and ${conflicting} are mutually exclusive`,
        })
      const parsed = parameter.parse(text, name)
      if ('problem' in parsed) problems.push({ field: name, ...parsed.problem })
      else if (parameter.repeatable) ((values[name] ??= []) as unknown[]).push(parsed.value)
      else values[name] = parsed.value
    }
  })
  throwIfAny(problems)
  for (const name in parameters) values[name] ??= parameters[name]!.fallback
  return values as QueryOf<Q>
}

function unknownParameter(name: string, isKnownElsewhere: boolean): FieldProblem {
  return isKnownElsewhere
    ? { field: name, code: 'invalid_context', message: `${name} is not allowed on this operation` }
    : { field: name, code: 'unknown_field', message: `${name} is not a known parameter` }
}

function conflictingParameter<Q extends object>(
  spec: QuerySpec<Q> | undefined,
  name: string,
  queryText: string,
): string | undefined {
  for (const [first, second] of spec?.pairs ?? []) {
    if (first !== name && second !== name) continue
    const other = first === name ? second : first
    let isPresent = false
    eachOccurrence(queryText, (present) => (isPresent ||= present === other))
    if (isPresent) return other
  }
  return undefined
}

/** Parses the variables of a path: those in `keys` as natural keys, the others as ids. */
export function parseParams(
  variables: readonly string[],
  segments: readonly string[],
  keys: readonly string[] = [],
): Record<string, number | string> {
  const params: Record<string, number | string> = {}
  const problems: FieldProblem[] = []
  variables.forEach((name, index) => {
    const result = parseParam(name, segments[index] ?? '', keys.includes(name))
    if ('value' in result) params[name] = result.value
    else problems.push({ field: name, ...result.problem })
  })
  throwIfAny(problems)
  return params
}

function parseParam(name: string, segment: string, isKey: boolean): ParseResult<number | string> {
  const text = decodeSegment(segment)
  if (!isKey) return parseId(text ?? segment, name)
  return text === null ? invalid(`${name} is not percent-encoded UTF-8`) : parseKey(text, name)
}

function decodeSegment(segment: string): string | null {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}
