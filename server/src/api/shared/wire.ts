import { instant } from '../../http/validation/fields.ts'
import { limit, timestampParam, offset } from '../../http/validation/parameters.ts'
import { type Component, envelope, envelopeExample, pageExample, pageOf } from '../../http/openapi/response-schema.ts'
import type { Field } from '../../http/validation/schema.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'

export const timestamp: Field<string> = { schema: instant.schema, parse: (value) => value as string }
export const wholeNumber: Field<number> = { schema: { type: 'integer' }, parse: Number }

export const paging = { limit, offset }
export const span = { from: timestampParam, to: timestampParam }

export const listBody = <T>(page: Page<T>, request: PageRequest, present: (row: T) => unknown) => ({
  data: page.rows.map(present),
  limit: request.limit,
  offset: request.offset,
  total_count: page.total,
})

/** Describes a successful response with one resource. */
export const singleResponse = (out: Component, description: string, status: 200 | 201 = 200) => ({
  status,
  description,
  schema: envelope(out),
  example: envelopeExample(out),
})

/** Describes a successful response with a page of resources. */
export const pageResponse = (out: Component, description: string) =>
  ({ status: 200, description, schema: pageOf(out), example: pageExample(out) }) as const
