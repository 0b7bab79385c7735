import type { components as Primary } from '../../../client/src/generated/primary.ts'
import type { components as Session } from './generated/web.ts'

type Schemas = Primary['schemas']
type Web = Session['schemas']

export type Asset = Schemas['Asset']
export type Location = Schemas['Location']
export type Tag = Schemas['Tag']
export type TagDraft = Pick<Tag, 'tag_type' | 'value'>
export type HistoryRow = Schemas['HistoryRow']
export type AssetLocation = Schemas['AssetLocation']
export type LocationEvent = Schemas['LocationEvent']
export type ApiKey = Schemas['APIKeyListItem']
export type NewApiKey = Schemas['APIKeyCreated']

export interface List<T> {
  data: T[]
  limit: number
  offset: number
  total_count: number
}

export const roles = ['viewer', 'operator', 'manager', 'admin'] as const
export type Role = (typeof roles)[number]

/** The API description allows further roles; the app supports these. */
type WithRole<T> = Omit<T, 'role'> & { role: Role }

type Membership = WithRole<Web['SessionOrganization']>

export type User = WithRole<Omit<Web['SessionUser'], 'org' | 'orgs'>> & { org: Membership; orgs: Membership[] }

export type SessionResponse = Omit<Web['Session'], 'user'> & { user: User }

export type Move = Web['Move']

export type LocationCount = Overview['locations'][number]

export type Overview = Web['Overview']

export type AssetAtLocation = Web['AssetAtLocation']

export type UnseenAsset = Web['UnseenAsset']

export type NeverSeenAsset = Web['NeverSeenAsset']

export type Attention = Web['Attention']

export type MoveCount = Web['MoveCount']

export type Stay = Web['Stay']

export type ScanPoint = NonNullable<Web['ReaderCreate']['scan_points']>[number]

export type Reader = Web['Reader']

export type NewReader = Web['NewReader']

export type NewReaderDraft = Web['ReaderCreate']

export type ReaderConnection = Web['ReaderConnection']

export type LatestRead = Web['LatestRead']

export type UnknownTag = Web['UnknownTag']

export type AttachedTag = Web['AttachedTag']

export type UnknownReaders = Web['UnknownReaders']

export type UnknownTopic = UnknownReaders['topics'][number]

export type SearchResult = Web['SearchResult']

export type ResolvedCode = Web['ResolvedCode']

export type Member = WithRole<Web['Member']>

export type Invitation = WithRole<Web['Invitation']>

export type NewInvitation = WithRole<Web['NewInvitation']>

export type InvitationOffer = WithRole<Web['InvitationOffer']>

export type Webhook = Web['Webhook']

export type WebhookWithSecret = Web['NewWebhook']

export type WebhookTest = Web['WebhookTest']

export type WebhookAttempt = Web['WebhookAttempt']

export type ImportState = Omit<Web['Import'], 'state'> & {
  state: 'open' | 'waiting' | 'checking' | 'checked' | 'running' | 'done' | 'failed'
}

export type Quota = Web['Quota']

export type SavedView = Web['SavedView']

export type Dwell = Web['Dwell']

export type Flow = Web['Flow']

export type AssetsPerLocation = Web['AssetsPerLocation']
