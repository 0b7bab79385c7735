import { listOf, oneOf, id } from '../../http/validation/fields.ts'
import { integerParam, searchParam } from '../../http/validation/query.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { nullable } from '../../http/validation/schema.ts'
import { type Output, component, embedded, envelope } from '../../http/openapi/response-schema.ts'
import type { RecordDeps } from '../../records/record.ts'
import { type Hit, type TagHit, searchRecords, searchTags } from '../../records/search.sql.ts'
import { tagTypes } from '../../tags/tag.ts'
import { line } from './fields.ts'

const HitOut = component(
  'SearchHit',
  { id: id, external_key: line, name: line },
  { id: 4503170118275611, external_key: 'ASSET-0001', name: 'Pallet jack 7' },
)

const TagHitOut = component(
  'SearchTagHit',
  {
    id: id,
    tag_type: oneOf(tagTypes),
    value: line,
    asset_id: nullable(id),
    location_id: nullable(id),
    holder_key: line,
    holder_name: line,
  },
  {
    id: 6021874402113355,
    tag_type: 'rfid',
    value: 'E28011700000020A1B2C3D4E',
    asset_id: 4503170118275611,
    location_id: null,
    holder_key: 'ASSET-0001',
    holder_name: 'Pallet jack 7',
  },
)

const SearchOut = component(
  'SearchResult',
  { assets: listOf(embedded(HitOut)), locations: listOf(embedded(HitOut)), tags: listOf(embedded(TagHitOut)) },
  { assets: [], locations: [], tags: [] },
)

const presentHit = (hit: Hit): Output<(typeof HitOut)['shape']> => ({
  id: hit.id,
  external_key: hit.externalKey,
  name: hit.name,
})

const presentTagHit = (hit: TagHit): Output<(typeof TagHitOut)['shape']> => ({
  id: hit.id,
  tag_type: hit.type,
  value: hit.value,
  asset_id: hit.assetId,
  location_id: hit.locationId,
  holder_key: hit.holderKey,
  holder_name: hit.holderName,
})

export const searchComponents = [HitOut, TagHitOut, SearchOut]

export const searchRoute = (deps: RecordDeps): AnyRoute =>
  route({
    group: 'Looking',
    method: 'GET',
    access: 'session',
    id: 'search',
    path: '/search',
    scopes: ['assets:read', 'locations:read'],
    summary: 'Search assets, locations and tags',
    query: { parameters: { q: { ...searchParam, fallback: '' }, limit: integerParam(1, 50, 8) } },
    success: { status: 200, description: 'The best matches', schema: envelope(SearchOut) },
    async handle({ principal: { orgId }, query: { q, limit: most } }) {
      const [assets, locations, tags] = await Promise.all([
        searchRecords(deps.db.read, orgId, 'asset', q, most),
        searchRecords(deps.db.read, orgId, 'location', q, most),
        searchTags(deps.db.read, orgId, q, most),
      ])
      const records = { assets: assets.map(presentHit), locations: locations.map(presentHit) }
      return ok({ data: { ...records, tags: tags.map(presentTagHit) } })
    },
  })
