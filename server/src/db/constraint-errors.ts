import { type KeyedNoun, type ApiError, apiError } from '../kernel/errors.ts'

const keys: Record<string, KeyedNoun> = { assets_live_key: 'Asset', locations_live_key: 'Location' }

/** The details of other conflicts, by the name of the violated constraint. */
const conflicts: Record<string, string> = {
  tags_live_value: 'A tag with this type and value already exists',
  webhooks_one_per_organization: 'The organization already has a webhook',
  reader_directory_topic: 'Another reader already has this topic_key',
  users_email: 'A user with this e-mail address already exists',
}

interface DatabaseError {
  code?: string
  constraint?: string
  message?: string
}

/** Citus leaves the constraint field empty and adds the shard's number to the name in the message. */
function constraintOf(error: DatabaseError): string | null {
  const isViolation = error.code?.startsWith('23') || (error.code === 'XX000' && error.message?.includes('violates'))
  if (!isViolation) return null
  const name = error.constraint ?? /constraint "([^"]+)"/.exec(error.message ?? '')?.[1]
  return name?.replace(/_\d+$/, '') ?? null
}

export function toConflict(error: unknown): ApiError | null {
  const constraint = constraintOf(error as DatabaseError) ?? ''
  const noun = keys[constraint]
  if (noun !== undefined) return apiError.keyTaken(noun)
  const detail = conflicts[constraint]
  return detail === undefined ? null : apiError.conflict(detail)
}

/** The database canceled a statement that exceeded its time, temporary-file or lock timeout limit; nothing was changed. */
export function toOverload(error: unknown): ApiError | null {
  const { code } = error as DatabaseError
  if (code === '57014' || code === '53400') return apiError.tooCostly()
  return code === '55P03' ? apiError.locked() : null
}

/** A row that the transaction read has changed since; a retry reads the current rows. Database functions raise LS001. */
export class SerializationConflictError extends Error {
  readonly code = '40001'
}

/** Deadlock and serialization failure. */
const retryableCodes = new Set(['40P01', '40001', 'LS001'])

/** The transaction was rolled back without effect and can be retried. */
export const isRetryable = (error: unknown): boolean => retryableCodes.has((error as DatabaseError).code ?? '')
