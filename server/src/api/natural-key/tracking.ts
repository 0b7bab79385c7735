import { assetStore } from '../../assets/assets.sql.ts'
import { keys, search, sort } from '../../http/query.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { described, optional } from '../../http/schema.ts'
import { type Wire, component, listExample, listOfAll } from '../../http/shape.ts'
import { now } from '../../kernel/clock.ts'
import { formatMillis } from '../../kernel/instant.ts'
import { getRecord } from '../../records/commands.ts'
import type { Needs } from '../../records/record.ts'
import { type HistoryEntry, assetHistory } from '../../tracking/history.sql.ts'
import { type Whereabout, assetLocations } from '../../tracking/report.sql.ts'
import { keyField, listAnswer, paging, span, timestamp, wholeNumber } from '../shared/wire.ts'
import { sortedBy } from './wire.ts'

const place = optional(described(keyField, 'Absent when it was seen at no location, or at one deleted since.'))

export const HistoryOut = component(
  'HistoryItem',
  {
    timestamp,
    location: place,
    duration_seconds: optional(
      described(wholeNumber, 'Whole seconds at the previous item’s location; absent on the earliest.'),
    ),
  },
  { timestamp: '2026-05-04T08:15:02.120Z', location: 'DOCK-3', duration_seconds: 5402 },
)

const presentEntry = (entry: HistoryEntry): Wire<(typeof HistoryOut)['shape']> => ({
  timestamp: formatMillis(entry.observedAt),
  location: entry.locationKey ?? undefined,
  duration_seconds: entry.durationSeconds ?? undefined,
})

export const CurrentLocationOut = component(
  'CurrentLocation',
  { asset: keyField, location: place, last_seen: timestamp },
  { asset: 'ASSET-0001', location: 'DOCK-3', last_seen: '2026-05-04T08:15:02.120Z' },
)

const presentWhereabout = (one: Whereabout): Wire<(typeof CurrentLocationOut)['shape']> => ({
  asset: one.assetKey,
  location: one.locationKey ?? undefined,
  last_seen: formatMillis(one.lastSeenAt),
})

const historySort = sort(['timestamp'], [{ field: 'timestamp', descending: true }])

const currentParameters = {
  ...paging,
  location: keys,
  q: search,
  sort: sort(['last_seen', 'asset', 'location'], [{ field: 'last_seen', descending: true }]),
}

const sortNames = {
  last_seen: 'asset_last_seen',
  asset: 'asset_external_key',
  location: 'location_external_key',
} as const

/** What the scans add up to. `scans:read`, the scope’s old name, opens these too. */
export function trackingRoutes(needs: Needs): AnyRoute[] {
  const common = { method: 'GET', access: 'any', scopes: ['tracking:read'] } as const
  return [
    route({
      ...common,
      id: 'assets.history',
      path: '/assets/{identifier}/history',
      group: 'Assets',
      keys: ['identifier'],
      summary: 'Where an asset has been',
      description: 'One item per recorded minute.',
      query: { parameters: { ...paging, ...span, sort: historySort } },
      success: {
        status: 200,
        description: 'A page of history',
        schema: listOfAll(HistoryOut),
        example: listExample(HistoryOut),
      },
      async handle({ caller, params, query }) {
        const { id } = await getRecord(needs, assetStore, caller.orgId, { key: params.identifier })
        const request = { ...query, descending: query.sort[0]?.descending ?? true }
        return ok(
          listAnswer(
            await assetHistory(needs.db.reports(caller.orgId), caller.orgId, id, request),
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
      summary: 'Where each asset was last seen',
      description: 'Lists assets that are valid now.',
      query: { parameters: currentParameters },
      success: {
        status: 200,
        description: 'One item per scanned asset',
        schema: listOfAll(CurrentLocationOut),
        example: listExample(CurrentLocationOut),
      },
      async handle({ caller, query }) {
        const { limit, offset, q, location: locationKeys } = query
        const request = { limit, offset, q, locationKeys, sort: sortedBy(query.sort, sortNames), now: now(needs.clock) }
        return ok(
          listAnswer(
            await assetLocations(needs.db.reports(caller.orgId), caller.orgId, request),
            query,
            presentWhereabout,
          ),
        )
      },
    }),
  ]
}
