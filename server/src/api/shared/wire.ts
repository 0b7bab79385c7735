import { instant } from '../../http/fields.ts'
import { limit, moment, offset } from '../../http/query.ts'
import type { Field } from '../../http/schema.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'

export { descriptionField, keyField, nameField, tagValue } from '../../records/fields.ts'

export const timestamp: Field<string> = { schema: instant.schema, read: (value) => value as string }
export const wholeNumber: Field<number> = { schema: { type: 'integer' }, read: Number }

export const paging = { limit, offset }
export const span = { from: moment, to: moment }

export const listAnswer = <T>(page: Page<T>, request: PageRequest, present: (row: T) => unknown) => ({
  data: page.rows.map(present),
  limit: request.limit,
  offset: request.offset,
  total_count: page.total,
})
