import type { FieldProblem } from '../kernel/errors.ts'
import { type Instant, parseRfc3339, sameMillisecond } from '../kernel/instant.ts'
import type { Tag } from '../tags/tag.ts'
import type { BaseRecord } from './record.ts'

/**
 * Read-only fields of a record as a client sent them back, unchecked. They are ignored while they equal the record and
 * rejected when they differ, which makes `updated_at` a token against lost updates.
 */
export interface ReadOnlyFields {
  id?: unknown
  external_key?: unknown
  created_at?: unknown
  updated_at?: unknown
  deleted_at?: unknown
  tags?: unknown
}

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
export function serverManagedErrors(fields: ReadOnlyFields, current: BaseRecord): FieldProblem[] {
  const problems: FieldProblem[] = []
  if (fields.updated_at !== undefined && !sameInstant(fields.updated_at, current.updatedAt))
    problems.push(managed('updated_at'))
  if (fields.id !== undefined && fields.id !== current.id) problems.push(managed('id'))
  if (fields.created_at !== undefined && !sameInstant(fields.created_at, current.createdAt))
    problems.push(managed('created_at'))
  if (fields.deleted_at !== undefined && !sameInstant(fields.deleted_at, current.deletedAt))
    problems.push(managed('deleted_at'))
  return problems
}

/** All fields that differ from the stored record, server-managed fields first. */
export function readOnlyErrors(fields: ReadOnlyFields, current: BaseRecord): FieldProblem[] {
  const problems = serverManagedErrors(fields, current)
  if (fields.external_key !== undefined && fields.external_key !== current.externalKey)
    problems.push(elsewhere('external_key', 'the rename operation'))
  if (fields.tags !== undefined && !sameTags(fields.tags, current.tags))
    problems.push(elsewhere('tags', 'the tag operations'))
  return problems
}
