import { assetRepository } from '../../assets/assets.sql.ts'
import { id, text } from '../../http/validation/fields.ts'
import {
  booleanParam,
  idsParam,
  keysParam,
  timestampParam,
  searchParam,
  sortParam,
} from '../../http/validation/parameters.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { described, nullable } from '../../http/validation/schema.ts'
import { type Output, component, pageExample, pageOf } from '../../http/openapi/response-schema.ts'
import { now } from '../../kernel/clock.ts'
import { formatMillis } from '../../kernel/instant.ts'
import { locationRepository } from '../../locations/locations.sql.ts'
import { getRecord } from '../../records/commands.ts'
import type { RecordDeps } from '../../records/record.ts'
import { type HistoryEntry, assetHistory } from '../../tracking/history/history.sql.ts'
import { type AssetPosition, assetLocations } from '../../tracking/report/report.sql.ts'
import { type LocationEvent, listLocationEvents } from '../../tracking/history/location-events.sql.ts'
import { keyField } from '../../records/fields.ts'
import { listBody, paging, span, timestamp, wholeNumber } from '../shared/wire.ts'

export const HistoryOut = component(
  'HistoryRow',
  {
    event_observed_at: timestamp,
    location_id: nullable(id),
    location_external_key: nullable(keyField),
    duration_seconds: described(
      nullable(wholeNumber),
      'Whole seconds at the previous row’s location; null on the earliest row.',
    ),
  },
  {
    event_observed_at: '2026-05-04T08:15:02.120Z',
    location_id: 7710249930581042,
    location_external_key: 'DOCK-3',
    duration_seconds: 5402,
  },
)

const presentEntry = (entry: HistoryEntry): Output<(typeof HistoryOut)['shape']> => ({
  event_observed_at: formatMillis(entry.observedAt),
  location_id: entry.locationId,
  location_external_key: entry.locationKey,
  duration_seconds: entry.durationSeconds,
})

export const AssetLocationOut = component(
  'AssetLocation',
  {
    asset_id: id,
    asset_external_key: keyField,
    location_id: nullable(id),
    location_external_key: nullable(keyField),
    asset_deleted_at: nullable(timestamp),
    asset_last_seen: timestamp,
  },
  {
    asset_id: 4503170118275611,
    asset_external_key: 'ASSET-0001',
    location_id: 7710249930581042,
    location_external_key: 'DOCK-3',
    asset_deleted_at: null,
    asset_last_seen: '2026-05-04T08:15:02.120Z',
  },
)

const presentPosition = (position: AssetPosition): Output<(typeof AssetLocationOut)['shape']> => ({
  asset_id: position.assetId,
  asset_external_key: position.assetKey,
  location_id: position.locationId,
  location_external_key: position.locationKey,
  asset_deleted_at: position.assetDeletedAt === null ? null : formatMillis(position.assetDeletedAt),
  asset_last_seen: formatMillis(position.lastSeenAt),
})

export const LocationEventOut = component(
  'LocationEvent',
  {
    event: { schema: { type: 'string', 'x-extensible-enum': ['arrival', 'departure'] }, parse: String },
    occurred_at: timestamp,
    asset_id: id,
    asset_external_key: keyField,
    location_id: described(id, 'Where it arrived, or what it left.'),
    location_name: text({ max: 255 }),
    other_location_id: described(nullable(id), 'Where it came from, or went to.'),
    other_location_name: nullable(text({ max: 255 })),
  },
  {
    event: 'arrival',
    occurred_at: '2026-05-04T08:15:02.120Z',
    asset_id: 4503170118275611,
    asset_external_key: 'ASSET-0001',
    location_id: 7710249930581042,
    location_name: 'Dock 3',
    other_location_id: null,
    other_location_name: null,
  },
)

const presentLocationEvent = (event: LocationEvent): Output<(typeof LocationEventOut)['shape']> => ({
  event: event.event,
  occurred_at: formatMillis(event.occurredAt),
  asset_id: event.assetId,
  asset_external_key: event.assetKey,
  location_id: event.locationId,
  location_name: event.locationName,
  other_location_id: event.otherId,
  other_location_name: event.otherName,
})

const historySort = sortParam(['event_observed_at'], [{ field: 'event_observed_at', descending: true }])

const reportSort = sortParam(
  ['asset_last_seen', 'asset_external_key', 'location_external_key'],
  [{ field: 'asset_last_seen', descending: true }],
)

const reportParameters = {
  ...paging,
  asset_id: idsParam,
  asset_external_key: keysParam,
  location_id: idsParam,
  location_external_key: keysParam,
  include_descendants: {
    ...booleanParam,
    description: 'With a location filter: also match the descendants of those locations.',
  },
  include_deleted: booleanParam,
  q: searchParam,
  at: { ...timestampParam, description: 'Return the locations as of this time.' },
  sort: reportSort,
}

/** Asset history, current locations, and arrivals and departures. All routes require `tracking:read`. */
export function trackingRoutes(deps: RecordDeps): AnyRoute[] {
  const common = { method: 'GET', group: 'Tracking', access: 'any', scopes: ['tracking:read'] } as const
  return [
    route({
      ...common,
      id: 'assets.history',
      path: '/assets/{asset_id}/history',
      ids: ['asset_id'],
      summary: 'Get the location history of an asset',
      description: 'One row per recorded minute.',
      query: { parameters: { ...paging, ...span, sort: historySort } },
      success: {
        status: 200,
        description: 'A page of history',
        schema: pageOf(HistoryOut),
        example: pageExample(HistoryOut),
      },
      async handle({ principal, params, query }) {
        await getRecord(deps, assetRepository, principal.orgId, params.asset_id)
        const request = { ...query, descending: query.sort[0]?.descending ?? true }
        return ok(
          listBody(
            await assetHistory(deps.db.replica(principal.orgId), principal.orgId, params.asset_id, request),
            query,
            presentEntry,
          ),
        )
      },
    }),
    route({
      ...common,
      id: 'reports.asset-locations',
      path: '/reports/asset-locations',
      summary: 'List the current or past location of each scanned asset',
      description: 'Lists assets that are valid now, also with `at`; `include_deleted` adds deleted assets.',
      query: {
        parameters: reportParameters,
        pairs: [
          ['asset_id', 'asset_external_key'],
          ['location_id', 'location_external_key'],
        ],
      },
      success: {
        status: 200,
        description: 'One row per scanned asset',
        schema: pageOf(AssetLocationOut),
        example: pageExample(AssetLocationOut),
      },
      async handle({ principal, query }) {
        const request = {
          limit: query.limit,
          offset: query.offset,
          q: query.q,
          at: query.at,
          sort: query.sort,
          now: now(deps.clock),
          assetIds: query.asset_id,
          assetKeys: query.asset_external_key,
          locationIds: query.location_id,
          locationKeys: query.location_external_key,
          includeDescendants: query.include_descendants,
          includeDeleted: query.include_deleted,
        }
        return ok(
          listBody(
            await assetLocations(deps.db.replica(principal.orgId), principal.orgId, request),
            query,
            presentPosition,
          ),
        )
      },
    }),
    route({
      ...common,
      id: 'locations.history',
      path: '/locations/{location_id}/history',
      ids: ['location_id'],
      summary: 'List arrivals at a location and departures from it',
      query: {
        parameters: {
          ...paging,
          ...span,
          include_descendants: {
            ...booleanParam,
            description:
              'Also include arrivals at and departures from the descendants. Moves within the subtree are neither.',
          },
        },
      },
      success: {
        status: 200,
        description: 'A page of arrivals and departures, newest first',
        schema: pageOf(LocationEventOut),
        example: pageExample(LocationEventOut),
      },
      async handle({ principal, params, query }) {
        await getRecord(deps, locationRepository, principal.orgId, params.location_id)
        const request = { ...query, includeDescendants: query.include_descendants }
        const db = deps.db.replica(principal.orgId)
        return ok(
          listBody(
            await listLocationEvents(db, principal.orgId, params.location_id, request),
            query,
            presentLocationEvent,
          ),
        )
      },
    }),
  ]
}
