import type { Clock } from '../kernel/clock.ts'
import type { IdGenerator } from '../db/id-generator.ts'
import type { Database } from '../db/database.ts'
import { type FieldProblem, apiError } from '../kernel/errors.ts'
import { type Instant, startOfMillisecond } from '../kernel/instant.ts'
import type { QuotaCheck } from '../kernel/quota.ts'
import type { Tag, TagDraft } from '../tags/tag.ts'

export interface RecordDeps {
  db: Database
  clock: Clock
  ids: IdGenerator
  quotas: QuotaCheck
}

/** A record by its id, or a live record by its key. */
export type RecordRef = number | { key: string }

/** The fields that assets and locations have in common. */
export interface BaseRecord {
  id: number
  externalKey: string
  name: string
  description: string | null
  isActive: boolean
  validFrom: Instant
  validTo: Instant | null
  createdAt: Instant
  updatedAt: Instant
  deletedAt: Instant | null
  tags: Tag[]
}

export interface RecordDraft {
  externalKey?: string
  name: string
  description: string | null
  isActive: boolean
  validFrom?: Instant
  validTo: Instant | null
  tags: TagDraft[]
}

/** Whether responses show the stored time, which may be more precise, as the given time. */
export const isShownAs = (stored: Instant, given: Instant): boolean => given === startOfMillisecond(stored)

export function assertValidPeriod(validFrom: Instant, validTo: Instant | null): void {
  if (validTo === null || validTo > validFrom) return
  const problem: FieldProblem = {
    field: 'valid_to',
    code: 'invalid_value',
    message: 'valid_to must be after valid_from',
  }
  throw apiError.invalid(problem)
}

/** A character that no field may contain, so that no search term matches across two fields. */
const fieldSeparator = '\u0001'

export function searchText(
  record: Pick<BaseRecord, 'externalKey' | 'name' | 'description'>,
  tags: readonly TagDraft[],
) {
  const parts = [record.name, record.externalKey, record.description ?? '', ...tags.map((tag) => tag.value)]
  return foldCase(parts.join(fieldSeparator))
}

/** Normalized text for searches. Lower-casing uses a different sigma at the end of a word, but a term may end anywhere. */
export const foldCase = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ')
