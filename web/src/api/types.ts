import type { components } from './primary.ts'

type Schemas = components['schemas']

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

export interface Membership {
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

export interface Move {
  delivery_id: string
  occurred_at: string
  asset: { id: number; external_key: string; name: string }
  from_location: { id: number; name: string } | null
  to_location: { id: number; name: string }
}

export interface PlaceCount {
  location_id: number
  parent_id: number | null
  name: string
  external_key: string
  here: number
  here_with_subtree: number
}

export interface Overview {
  assets_total: number
  seen_total: number
  quiet_after_hours: number
  quiet_total: number
  locations: PlaceCount[]
  moves_per_hour: { hour: string; moves: number }[]
}

export interface QuietAsset {
  asset_id: number
  external_key: string
  name: string
  location_id: number | null
  location_name: string | null
  last_seen_at: string
}

export interface ScanPoint {
  antenna: number
  location_id: number | null
  location_external_key?: string | null
}

export interface Reader {
  id: number
  name: string
  format: string
  clock: string
  created_at: string
  last_seen_at: string | null
  messages: number
  reads: number
  ignored: number
  warning: string | null
  scan_points: ScanPoint[]
}

export interface NewReader extends Reader {
  token: string
  ingest_url: string
  mqtt: { url: string | null; username: string; password: string; topic: string } | null
}

export interface UnknownTag {
  tag_type: string
  value: string
  reader_id: number
  antenna: number | null
  reads: number
  first_seen_at: string
  last_seen_at: string
}

export interface Found {
  id: number
  external_key: string
  name: string
}

export interface FoundTag {
  id: number
  tag_type: string
  value: string
  asset_id: number | null
  location_id: number | null
  holder_key: string
  holder_name: string
}

export interface SearchResult {
  assets: Found[]
  locations: Found[]
  tags: FoundTag[]
}

export interface ResolvedCode {
  code: string
  kind: 'asset' | 'location' | null
  id: number | null
  external_key: string | null
  name: string | null
  location_id: number | null
  location_name: string | null
  last_seen_at: string | null
}

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
  id: string
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

export interface Dwell {
  location_id: number
  external_key: string
  name: string
  minutes: number
  assets: number
  visits: number
}

export interface Flow {
  from_location_id: number | null
  from_name: string | null
  to_location_id: number
  to_name: string
  moves: number
}
