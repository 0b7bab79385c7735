import type { Field, JsonSchema, OptionalKeys, Shape } from '../validation/schema.ts'
import { objectSchema } from '../validation/schema.ts'

type Value<F> = F extends Field<infer T> ? T : never

/** What a presenter must return for a shape: every key, every time. What is optional is left out while undefined. */
export type Output<S extends Shape> = { [K in Exclude<keyof S, OptionalKeys<S>>]: Value<S[K]> } & {
  [K in OptionalKeys<S>]?: Value<S[K]> | undefined
}

/** A named answer shape: its schema becomes a component, and its reference stands wherever it is used. */
export interface Component<S extends Shape = Shape> {
  readonly name: string
  readonly shape: S
  readonly schema: JsonSchema
  readonly example: unknown
}

export function component<S extends Shape>(name: string, shape: S, example: Output<S>): Component<S> {
  return { name, shape, example, schema: objectSchema(shape, { isAnswer: true }) }
}

export const refTo = (part: { name: string }): JsonSchema => ({ $ref: `#/components/schemas/${part.name}` })

/** Stands for another component inside a shape. */
export function embedded<S extends Shape>(part: Component<S>): Field<Output<S>> {
  return { schema: refTo(part), parse: (value) => value as Output<S> }
}

export const envelope = (part: Component): JsonSchema => ({
  type: 'object',
  required: ['data'],
  properties: { data: refTo(part) },
})

export const pageOf = (part: Component): JsonSchema => ({
  type: 'object',
  required: ['data', 'limit', 'offset', 'total_count'],
  properties: {
    data: { type: 'array', items: refTo(part) },
    limit: { type: 'integer' },
    offset: { type: 'integer' },
    total_count: { type: 'integer', format: 'int64' },
  },
})

/** A list that is never paged. */
export const arrayOf = (part: Component): JsonSchema => ({
  type: 'object',
  required: ['data'],
  properties: { data: { type: 'array', items: refTo(part) } },
})

export const envelopeExample = (part: Component): unknown => ({ data: part.example })

export const pageExample = (part: Component): unknown => ({
  data: [part.example],
  limit: 50,
  offset: 0,
  total_count: 1,
})
