import type { FieldProblem } from '../../kernel/errors.ts'
import { type Instant, parseRfc3339, sameMillisecond } from '../../kernel/instant.ts'
import { echo } from '../../http/fields.ts'
import { optional } from '../../http/schema.ts'
import type { RecordCore } from '../../records/record.ts'
import type { Tag } from '../../tags/tag.ts'

/**
 * PATCH may carry a record as it was read. What the server manages is ignored while it is unchanged and refused when it
 * differs, which makes `updated_at` a token against lost updates.
 */
export const echoShape = {
  id: optional(echo({ type: 'integer', format: 'int64' })),
  external_key: optional(echo({ type: 'string' })),
  created_at: optional(echo({ type: 'string', format: 'date-time' })),
  updated_at: optional(echo({ type: 'string', format: 'date-time' })),
  deleted_at: optional(echo({ type: 'string', format: 'date-time', nullable: true })),
  tags: optional(echo({ type: 'array', items: { type: 'object' } })),
}

type Echo = { [K in keyof typeof echoShape]?: unknown }

function sameInstant(given: unknown, current: Instant | null): boolean {
  if (current === null) return given === null
  const parsed = typeof given === 'string' ? parseRfc3339(given) : null
  return parsed !== null && sameMillisecond(parsed.instant, current)
}

function sameTag(given: unknown, tag: Tag): boolean {
  if (typeof given !== 'object' || given === null) return false
  const { id = tag.id, tag_type, value, ...rest } = given as Record<string, unknown>
  return id === tag.id && tag_type === tag.type && value === tag.value && Object.keys(rest).length === 0
}

function sameTags(given: unknown, tags: readonly Tag[]): boolean {
  if (!Array.isArray(given) || given.length !== tags.length) return false
  return tags.every((tag) => given.some((entry) => sameTag(entry, tag)))
}

const managed = (field: string): FieldProblem => ({
  field,
  code: 'read_only',
  message: `${field} is managed by the server and differs from the stored value`,
})

const elsewhere = (field: string, operation: string): FieldProblem => ({
  field,
  code: 'invalid_context',
  message: `${field} cannot be changed here; use ${operation}`,
})

/**
 * Server-managed fields that differ from the stored record. A stale `updated_at` comes first, because clients look for it
 * there; the others follow in the order of the contract's tables.
 */
export function serverManagedErrors(body: Echo, current: RecordCore): FieldProblem[] {
  const problems: FieldProblem[] = []
  if (body.updated_at !== undefined && !sameInstant(body.updated_at, current.updatedAt))
    problems.push(managed('updated_at'))
  if (body.id !== undefined && body.id !== current.id) problems.push(managed('id'))
  if (body.created_at !== undefined && !sameInstant(body.created_at, current.createdAt))
    problems.push(managed('created_at'))
  if (body.deleted_at !== undefined && !sameInstant(body.deleted_at, current.deletedAt))
    problems.push(managed('deleted_at'))
  return problems
}

/** Everything in the body that contradicts the stored record: first what the server manages. */
export function contradictions(body: Echo, current: RecordCore): FieldProblem[] {
  const problems = serverManagedErrors(body, current)
  if (body.external_key !== undefined && body.external_key !== current.externalKey)
    problems.push(elsewhere('external_key', 'the rename operation'))
  if (body.tags !== undefined && !sameTags(body.tags, current.tags))
    problems.push(elsewhere('tags', 'the tag operations'))
  return problems
}
