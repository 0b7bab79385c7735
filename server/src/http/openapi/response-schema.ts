import type { Field, JsonSchema, OptionalKeys, Shape } from '../validation/schema.ts'
import { objectSchema } from '../validation/schema.ts'

type Value<F> = F extends Field<infer T> ? T : never

/** The type that a presenter must return for a shape: every required key, always. Optional keys may be undefined. */
export type Output<S extends Shape> = { [K in Exclude<keyof S, OptionalKeys<S>>]: Value<S[K]> } & {
  [K in OptionalKeys<S>]?: Value<S[K]> | undefined
}

/** A named response shape. Its schema becomes an OpenAPI component, and every use is a reference to it. */
export interface Component<S extends Shape = Shape> {
  readonly name: string
  readonly shape: S
  readonly schema: JsonSchema
  readonly example: unknown
}

export function component<S extends Shape>(name: string, shape: S, example: Output<S>): Component<S> {
  return { name, shape, example, schema: objectSchema(shape, { isResponse: true }) }
}

export const refTo = (part: { name: string }): JsonSchema => ({ $ref: `#/components/schemas/${part.name}` })

/** A field that refers to another component. */
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

/** A list that is not paginated. */
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
