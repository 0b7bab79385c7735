import { listOf, oneOf, id } from '../../http/validation/fields.ts'
import { integerParam, searchParam } from '../../http/validation/parameters.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { nullable } from '../../http/validation/schema.ts'
import { type Output, component, embedded, envelope } from '../../http/openapi/response-schema.ts'
import { type ReaderHit, searchReaders } from '../../readers/readers.sql.ts'
import type { RecordDeps } from '../../records/record.ts'
import { type Hit, type TagHit, searchRecords, searchTags } from '../../records/search.sql.ts'
import { tagTypes } from '../../tags/tag.ts'
import { type LastSeen, lastSeenOf } from '../../tracking/history/last-seen.sql.ts'
import { timestamp } from '../shared/wire.ts'
import { singleLine, formatNullable } from './fields.ts'

const HitOut = component(
  'SearchHit',
  { id: id, external_key: singleLine, name: singleLine },
  { id: 7710249930581042, external_key: 'DOCK-3', name: 'Dock 3' },
)

const lastSeenShape = {
  location_id: nullable(id),
  location_name: nullable(singleLine),
  last_seen_at: nullable(timestamp),
}

const AssetHitOut = component(
  'SearchAssetHit',
  { id: id, external_key: singleLine, name: singleLine, ...lastSeenShape },
  {
    id: 4503170118275611,
    external_key: 'ASSET-0001',
    name: 'Pallet jack 7',
    location_id: 7710249930581042,
    location_name: 'Dock 3',
    last_seen_at: '2026-05-04T08:00:00.000Z',
  },
)

const ReaderHitOut = component(
  'SearchReaderHit',
  { id: id, name: singleLine, last_seen_at: nullable(timestamp) },
  { id: 8120449930581042, name: 'Gate 1', last_seen_at: null },
)

const TagHitOut = component(
  'SearchTagHit',
  {
    id: id,
    tag_type: oneOf(tagTypes),
    value: singleLine,
    asset_id: nullable(id),
    location_id: nullable(id),
    owner_key: singleLine,
    owner_name: singleLine,
    /** Where the asset with the tag was last seen. */
    last_seen_location: nullable(singleLine),
    last_seen_at: nullable(timestamp),
  },
  {
    id: 6021874402113355,
    tag_type: 'rfid',
    value: 'E28011700000020A1B2C3D4E',
    asset_id: 4503170118275611,
    location_id: null,
    owner_key: 'ASSET-0001',
    owner_name: 'Pallet jack 7',
    last_seen_location: 'Dock 3',
    last_seen_at: '2026-05-04T08:00:00.000Z',
  },
)

const SearchOut = component(
  'SearchResult',
  {
    assets: listOf(embedded(AssetHitOut)),
    locations: listOf(embedded(HitOut)),
    readers: listOf(embedded(ReaderHitOut)),
    tags: listOf(embedded(TagHitOut)),
  },
  { assets: [], locations: [], readers: [], tags: [] },
)

const presentHit = (hit: Hit): Output<(typeof HitOut)['shape']> => ({
  id: hit.id,
  external_key: hit.externalKey,
  name: hit.name,
})

const presentAssetHit = (hit: Hit, seen: LastSeen | undefined): Output<(typeof AssetHitOut)['shape']> => ({
  ...presentHit(hit),
  location_id: seen?.locationId ?? null,
  location_name: seen?.locationName ?? null,
  last_seen_at: formatNullable(seen?.lastSeenAt ?? null),
})

const presentReaderHit = (hit: ReaderHit): Output<(typeof ReaderHitOut)['shape']> => ({
  id: hit.id,
  name: hit.name,
  last_seen_at: formatNullable(hit.lastSeenAt),
})

const presentTagHit = (hit: TagHit, seen: LastSeen | undefined): Output<(typeof TagHitOut)['shape']> => ({
  id: hit.id,
  tag_type: hit.type,
  value: hit.value,
  asset_id: hit.assetId,
  location_id: hit.locationId,
  owner_key: hit.ownerKey,
  owner_name: hit.ownerName,
  last_seen_location: seen?.locationName ?? null,
  last_seen_at: formatNullable(seen?.lastSeenAt ?? null),
})

export const searchComponents = [HitOut, AssetHitOut, ReaderHitOut, TagHitOut, SearchOut]

export const searchRoute = (deps: RecordDeps): AnyRoute =>
  route({
    group: 'Overview and search',
    method: 'GET',
    access: 'session',
    id: 'search',
    path: '/search',
    scopes: ['assets:read', 'locations:read', 'tracking:read'],
    summary: 'Search assets, locations, readers and tags',
    query: { parameters: { q: { ...searchParam, fallback: '' }, limit: integerParam(1, 50, 8) } },
    success: { status: 200, description: 'The best matches', schema: envelope(SearchOut) },
    async handle({ principal: { orgId }, query: { q, limit: most } }) {
      const db = deps.db.searches(orgId)
      const [assets, locations, readers, tags] = await Promise.all([
        searchRecords(db, orgId, 'asset', q, most),
        searchRecords(db, orgId, 'location', q, most),
        searchReaders(db, orgId, q, most),
        searchTags(db, orgId, q, most),
      ])
      const assetIds = [...assets.map((hit) => hit.id), ...tags.flatMap((hit) => hit.assetId ?? [])]
      const seen = await lastSeenOf(db, orgId, [...new Set(assetIds)])
      return ok({
        data: {
          assets: assets.map((hit) => presentAssetHit(hit, seen.get(hit.id))),
          locations: locations.map(presentHit),
          readers: readers.map(presentReaderHit),
          tags: tags.map((hit) => presentTagHit(hit, seen.get(hit.assetId ?? 0))),
        },
      })
    },
  })
