import type { components, operations } from './generated/primary.ts'

type Schemas = components['schemas']
type Query<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>

/** Where an asset is comes from scans alone. */
type Place = 'location_id' | 'location_external_key'

export type Asset = Schemas['Asset']
export type AssetCreate = Omit<Schemas['AssetCreate'], Place>
export type AssetPatch = Omit<Schemas['AssetPatch'], Place>
export type AssetQuery = Query<'assets.list'>
export type HistoryRow = Schemas['HistoryRow']
export type HistoryQuery = Query<'assets.history'>
export type Location = Schemas['Location']
export type LocationCreate = Schemas['LocationCreate']
export type LocationPatch = Schemas['LocationPatch']
export type LocationQuery = Query<'locations.list'>
export type Passage = Schemas['Passage']
export type PassageQuery = Query<'locations.history'>
export type PageQuery = Query<'locations.children'>
export type Tag = Schemas['Tag']
export type TagAttach = Schemas['TagAttach']
export type AssetLocation = Schemas['AssetLocation']
export type AssetLocationQuery = Query<'reports.asset-locations'>
export type InventorySave = Schemas['InventorySave']
export type InventorySaved = Schemas['InventorySaved']
export type Organization = Schemas['Organization']
/** An asset or a location after it got another key. */
export type Renamed<Item> = Item & { descendant_count_affected: number }
