import { assetRepository } from '../../assets/assets.sql.ts'
import { keysParam, searchParam, sortParam } from '../../http/validation/parameters.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { described, optional } from '../../http/validation/schema.ts'
import { type Output, component, pageExample, pageOf } from '../../http/openapi/response-schema.ts'
import { now } from '../../kernel/clock.ts'
import { formatMillis } from '../../kernel/instant.ts'
import { getRecord } from '../../records/commands.ts'
import type { RecordDeps } from '../../records/record.ts'
import { type HistoryEntry, assetHistory } from '../../tracking/history/history.sql.ts'
import { type AssetPosition, assetLocations } from '../../tracking/report/report.sql.ts'
import { keyField } from '../../records/fields.ts'
import { listBody, paging, span, timestamp, wholeNumber } from '../shared/wire.ts'
import { sortedBy } from './wire.ts'

const locationKey = optional(
  described(keyField, 'Absent when it was seen at no location, or at a location deleted since.'),
)

export const HistoryOut = component(
  'HistoryItem',
  {
    timestamp,
    location: locationKey,
    duration_seconds: optional(
      described(wholeNumber, 'Whole seconds at the previous item’s location; absent on the earliest.'),
    ),
  },
  { timestamp: '2026-05-04T08:15:02.120Z', location: 'DOCK-3', duration_seconds: 5402 },
)

const presentEntry = (entry: HistoryEntry): Output<(typeof HistoryOut)['shape']> => ({
  timestamp: formatMillis(entry.observedAt),
  location: entry.locationKey ?? undefined,
  duration_seconds: entry.durationSeconds ?? undefined,
})

export const CurrentLocationOut = component(
  'CurrentLocation',
  { asset: keyField, location: locationKey, last_seen: timestamp },
  { asset: 'ASSET-0001', location: 'DOCK-3', last_seen: '2026-05-04T08:15:02.120Z' },
)

const presentPosition = (position: AssetPosition): Output<(typeof CurrentLocationOut)['shape']> => ({
  asset: position.assetKey,
  location: position.locationKey ?? undefined,
  last_seen: formatMillis(position.lastSeenAt),
})

const historySort = sortParam(['timestamp'], [{ field: 'timestamp', descending: true }])

const currentParameters = {
  ...paging,
  location: keysParam,
  q: searchParam,
  sort: sortParam(['last_seen', 'asset', 'location'], [{ field: 'last_seen', descending: true }]),
}

const sortNames = {
  last_seen: 'asset_last_seen',
  asset: 'asset_external_key',
  location: 'location_external_key',
} as const

/** History and current locations. `scans:read`, the former name of `tracking:read`, grants access, too. */
export function trackingRoutes(deps: RecordDeps): AnyRoute[] {
  const common = { method: 'GET', access: 'any', scopes: ['tracking:read'] } as const
  return [
    route({
      ...common,
      id: 'assets.history',
      path: '/assets/{identifier}/history',
      group: 'Assets',
      keys: ['identifier'],
      summary: 'Get the location history of an asset',
      description: 'One item per recorded minute.',
      query: { parameters: { ...paging, ...span, sort: historySort } },
      success: {
        status: 200,
        description: 'A page of history',
        schema: pageOf(HistoryOut),
        example: pageExample(HistoryOut),
      },
      async handle({ principal, params, query }) {
        const { id } = await getRecord(deps, assetRepository, principal.orgId, { key: params.identifier })
        const request = { ...query, descending: query.sort[0]?.descending ?? true }
        return ok(
          listBody(
            await assetHistory(deps.db.replica(principal.orgId), principal.orgId, id, request),
            query,
            presentEntry,
          ),
        )
      },
    }),
    route({
      ...common,
      id: 'locations.current',
      path: '/locations/current',
      group: 'Locations',
      summary: 'List the current location of each asset',
      description: 'Lists assets that are valid now.',
      query: { parameters: currentParameters },
      success: {
        status: 200,
        description: 'One item per scanned asset',
        schema: pageOf(CurrentLocationOut),
        example: pageExample(CurrentLocationOut),
      },
      async handle({ principal, query }) {
        const { limit, offset, q, location: locationKeys } = query
        const request = { limit, offset, q, locationKeys, sort: sortedBy(query.sort, sortNames), now: now(deps.clock) }
        return ok(
          listBody(
            await assetLocations(deps.db.replica(principal.orgId), principal.orgId, request),
            query,
            presentPosition,
          ),
        )
      },
    }),
  ]
}
