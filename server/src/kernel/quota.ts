import { type ApiError, apiError } from './errors.ts'

/** The records and keys whose number is limited per organization. */
export const quotaNames = ['assets', 'locations', 'readers', 'members', 'api_keys', 'imports'] as const
export type QuotaName = (typeof quotaNames)[number]

const nouns: Record<QuotaName, string> = {
  assets: 'assets',
  locations: 'locations',
  readers: 'readers',
  members: 'members',
  api_keys: 'API keys',
  imports: 'imports',
}

export const quotaReached = (name: QuotaName, limit: number): ApiError =>
  apiError.conflict(`Quota ${name} reached: the organization may have at most ${limit} ${nouns[name]}`)

/** Checks the quotas of an organization. */
export interface QuotaCheck {
  /** Throws the contract's 409 if `count` more would exceed the quota. */
  assertRoom(orgId: number, name: QuotaName, count?: number): Promise<void>
  /** Returns how many more the organization may create. */
  roomFor(orgId: number, name: QuotaName): Promise<{ left: number; limit: number }>
}
