import type { components as Primary } from './primary.ts'
import type { components as Session } from './web.ts'

type Schemas = Primary['schemas']
type Web = Session['schemas']

export type Asset = Schemas['Asset']
export type Location = Schemas['Location']
export type Tag = Schemas['Tag']
export type HistoryRow = Schemas['HistoryRow']
export type AssetLocation = Schemas['AssetLocation']
export type Passage = Schemas['Passage']
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

interface Membership {
  id: number
  name: string
  role: Role
}

export interface User {
  id: number
  email: string
  role: Role
  org: Membership
  orgs: Membership[]
}

export interface SignedIn {
  access_token: string
  refresh_token: string
  token_type: string
  expires_in: number
  user: User
}

export type Move = Web['Move']

export type PlaceCount = Overview['locations'][number]

export type Overview = Web['Overview']

export type QuietAsset = Web['QuietAsset']

export interface ScanPoint {
  antenna: number
  location_id: number | null
}

export type Reader = Web['Reader']

export type NewReader = Web['NewReader']

export type UnknownTag = Web['UnknownTag']

export type UnknownReaders = Web['UnknownReaders']

export type UnknownTopic = UnknownReaders['topics'][number]

export type SearchResult = Web['SearchResult']

export type ResolvedCode = Web['ResolvedCode']

export interface Member {
  user_id: number
  email: string
  role: Role
  joined_at: string
}

export interface Invitation {
  id: number
  email: string
  role: Role
  expires_at: string
  link?: string
}

export interface Webhook {
  id: number
  url: string
  enabled: boolean
  secret_masked: string
  created_at: string
  updated_at: string
  secret?: string
}

export interface WebhookAttempt {
  delivery_id: string
  event: string
  attempt: number
  attempted_at: string
  status: number | null
  error: string | null
  duration_ms: number
}

export interface ImportState {
  id: number
  kind: 'assets' | 'locations'
  state: 'open' | 'checking' | 'checked' | 'running' | 'done' | 'failed'
  rows: number
  creates: number
  updates: number
  unchanged: number
  errors_total: number
  errors: { line: number; field: string | null; message: string }[]
  done_rows: number
}

export type Dwell = Web['Dwell']

export type Flow = Web['Flow']
