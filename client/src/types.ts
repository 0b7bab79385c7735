import type { components, operations } from './generated/primary.ts'
import type { ResponseBody } from './operations.ts'

type Schemas = components['schemas']
type Query<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>

/** An asset's location comes from sightings alone, so a create or a patch cannot set it. */
type LocationFields = 'location_id' | 'location_external_key'

/** A thing that is tracked. */
export type Asset = Schemas['Asset']
/** The body of `assets.create`. */
export type AssetCreate = Omit<Schemas['AssetCreate'], LocationFields>
/** The body of `assets.patch`, a merge patch: null clears a field. */
export type AssetPatch = Omit<Schemas['AssetPatch'], LocationFields>
/** The filters, sort order and page of `assets.list`. */
export type AssetQuery = Query<'assets.list'>
/** The location of an asset in one recorded minute. */
export type HistoryRow = Schemas['HistoryRow']
/** The period, sort order and page of `assets.history`. */
export type HistoryQuery = Query<'assets.history'>
/** A location in the tree of locations. */
export type Location = Schemas['Location']
/** The body of `locations.create`. */
export type LocationCreate = Schemas['LocationCreate']
/** The body of `locations.patch`, a merge patch: null clears a field. */
export type LocationPatch = Schemas['LocationPatch']
/** The filters, sort order and page of `locations.list`. */
export type LocationQuery = Query<'locations.list'>
/** An asset's arrival at a location or its departure. */
export type LocationEvent = ResponseBody<operations['locations.history']>['data'][number]
/** The period and page of `locations.history`. */
export type LocationEventQuery = Query<'locations.history'>
/** The page of a list without filters. */
export type PageQuery = Query<'locations.children'>
/** An RFID, BLE or barcode tag that is attached to an asset or a location. */
export type Tag = Schemas['Tag']
/** The type and value of a tag to attach. */
export type TagAttach = Schemas['TagAttach']
/** The location at which an asset was last seen. */
export type AssetLocation = Schemas['AssetLocation']
/** The filters, sort order and page of `reports.assetLocations`. */
export type AssetLocationQuery = Query<'reports.asset-locations'>
/** A row of `bulk.importAssets`. */
export type BulkAssetRow = Schemas['BulkAssetRow']
/** A row of `bulk.importLocations`. */
export type BulkLocationRow = Schemas['BulkLocationRow']
/** The state, counts and progress of an import. */
export type BulkJob = Schemas['BulkJob']
/** An error of an import, with the line of its row. */
export type BulkErrorRow = Schemas['BulkError']
/** A row of `bulk.exportAssets`. */
export type BulkAsset = Schemas['BulkAsset']
/** A row of `bulk.exportLocations`. */
export type BulkLocation = Schemas['BulkLocation']
/** A row of `bulk.exportHistory`. */
export type BulkHistoryRow = Schemas['BulkHistoryRow']
/** A move of an asset from one location to another. */
export type Move = Schemas['Move']
/** The body of `saveInventory`: a location and the assets that are there now. */
export type InventorySave = Schemas['InventorySave']
/** The result of `saveInventory`. */
export type InventorySaved = Schemas['InventorySaved']
/** The organization and the scopes of a credential. */
export type Organization = Schemas['Organization']
/** An asset or a location after `rename`, with the number of locations below it whose path has changed. */
export type Renamed<Item> = Item & { descendant_count_affected: number }
