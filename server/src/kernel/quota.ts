import { type ApiError, apiError } from './errors.ts'

/** What an organization may have a bounded number of. */
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

/** Whether an organization may have more of something. */
export interface QuotaCheck {
  /** Throws the contract's 409 when the organization would then have more than its quota. */
  assertRoom(orgId: number, name: QuotaName, count?: number): Promise<void>
  /** How many more there may be. */
  roomFor(orgId: number, name: QuotaName): Promise<{ left: number; limit: number }>
}
