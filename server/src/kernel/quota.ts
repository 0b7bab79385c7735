import { ApiError, apiError } from './errors.ts'

/** What is limited per organization. */
export const quotaNames = [
  'assets',
  'locations',
  'readers',
  'members',
  'api_keys',
  'imports',
  'stored_bytes',
  'live_streams',
  'query_seconds',
] as const
export type QuotaName = (typeof quotaNames)[number]

/** The largest value of a quota. */
export const maxQuota = 1_000_000_000_000_000

/** Quotas of what is stored. Every process counts its own open streams and measures its own query time. */
export type StoredQuota = Exclude<QuotaName, 'live_streams' | 'query_seconds'>

const nouns: Record<StoredQuota, string> = {
  assets: 'assets',
  locations: 'locations',
  readers: 'readers',
  members: 'members',
  api_keys: 'API keys',
  imports: 'imports',
  stored_bytes: 'bytes of stored data',
}

export const isQuotaReached = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.kind === 'conflict'

export const quotaReached = (name: StoredQuota, limit: number): ApiError =>
  apiError.conflict(`Quota ${name} reached: the organization may have at most ${limit} ${nouns[name]}`)

export const liveStreamsReached = (limit: number): ApiError =>
  apiError.tooManyOpen(
    `Quota live_streams reached: the organization may have at most ${limit} live streams open at a time`,
  )

export const queryTimeReached = (limitSeconds: number, retryAfterSeconds: number): ApiError =>
  apiError.rateLimited(
    retryAfterSeconds,
    `Quota query_seconds reached: searches, reports and long lists of the organization may use ${limitSeconds} seconds of database time a minute`,
  )

/** Checks the quotas of an organization. */
export interface QuotaCheck {
  /** Throws the contract's 409 if `count` more, or any more stored bytes, would exceed the quota. */
  assertRoom(orgId: number, name: StoredQuota, count?: number): Promise<void>
  /** Throws the contract's 409 if the organization stores so much more than its quota that reads of readers are rejected, too. */
  assertMayRecord(orgId: number): Promise<void>
  /** Returns how many more the organization may create. */
  roomFor(orgId: number, name: StoredQuota): Promise<{ left: number; limit: number }>
}
