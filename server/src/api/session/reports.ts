import { id } from '../../http/validation/fields.ts'
import { integerParam, timestampParam } from '../../http/validation/parameters.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { nullable } from '../../http/validation/schema.ts'
import { type Output, component, arrayOf } from '../../http/openapi/response-schema.ts'
import type { Clock } from '../../kernel/clock.ts'
import { apiError } from '../../kernel/errors.ts'
import { type Instant, instantFromMillis, millisOf } from '../../kernel/instant.ts'
import type { RecordDeps } from '../../records/record.ts'
import { type AssetsAtLocation, assetsPerLocation } from '../../tracking/report/assets-per-location.sql.ts'
import {
  type Dwell,
  type Flow,
  dwellPerLocation,
  flowBetween,
  maxReportRows,
} from '../../tracking/report/dwell-and-flow.sql.ts'
import { singleLine, integer } from './fields.ts'

const DwellOut = component(
  'Dwell',
  {
    location_id: id,
    external_key: nullable(singleLine),
    name: singleLine,
    minutes: integer,
    assets: integer,
    visits: integer,
  },
  { location_id: 7710249930581042, external_key: 'DOCK-3', name: 'Dock 3', minutes: 480, assets: 2, visits: 3 },
)

const FlowOut = component(
  'Flow',
  {
    from_location_id: nullable(id),
    from_name: nullable(singleLine),
    to_location_id: id,
    to_name: singleLine,
    moves: integer,
  },
  { from_location_id: null, from_name: null, to_location_id: 7710249930581042, to_name: 'Dock 3', moves: 12 },
)

const AssetsPerLocationOut = component(
  'AssetsPerLocation',
  {
    location_id: nullable(id),
    external_key: nullable(singleLine),
    name: nullable(singleLine),
    assets: integer,
  },
  { location_id: 7710249930581042, external_key: 'DOCK-3', name: 'Dock 3', assets: 12 },
)

export const reportComponents = [DwellOut, FlowOut, AssetsPerLocationOut]

const presentDwell = (one: Dwell): Output<(typeof DwellOut)['shape']> => ({
  location_id: one.locationId,
  external_key: one.externalKey,
  name: one.name,
  minutes: one.minutes,
  assets: one.assets,
  visits: one.visits,
})

const presentFlow = (one: Flow): Output<(typeof FlowOut)['shape']> => ({
  from_location_id: one.from?.id ?? null,
  from_name: one.from?.name ?? null,
  to_location_id: one.to.id,
  to_name: one.to.name,
  moves: one.moves,
})

const presentAssetsPerLocation = (one: AssetsAtLocation): Output<(typeof AssetsPerLocationOut)['shape']> => ({
  location_id: one.location?.id ?? null,
  external_key: one.location?.key ?? null,
  name: one.location?.name ?? null,
  assets: one.assets,
})

const weekMs = 7 * 86_400_000
export const periodParameters = {
  from: { ...timestampParam, description: 'Default: one week before `to`.' },
  to: { ...timestampParam, description: 'Default: now. A time in the future is replaced by now.' },
}

const maxLevels = 64
const level = {
  ...integerParam(0, maxLevels, maxLevels),
  description:
    'Roll locations up to this level of the tree: 0 for the top-level locations, 1 for those below them, and so on.',
}

/** Returns the requested period, which ends now at the latest. */
export function periodOf(
  clock: Clock,
  query: { from?: Instant | undefined; to?: Instant | undefined },
): [Instant, Instant] {
  const nowAt = instantFromMillis(clock.millis())
  const to = query.to === undefined || query.to > nowAt ? nowAt : query.to
  const from = query.from ?? instantFromMillis(millisOf(to) - weekMs)
  if (query.to !== undefined && from > query.to)
    throw apiError.invalid({ field: 'to', code: 'invalid_value', message: 'to must not be before from' })
  return [from > to ? to : from, to]
}

const rowsText = maxReportRows.toLocaleString('en-US')

/** Dwell times and flows over a period, and the number of assets per location at an instant. */
export function reportRoutes(deps: RecordDeps): AnyRoute[] {
  const common = { group: 'Reports', method: 'GET', access: 'session', scopes: ['tracking:read'] } as const
  const query = { parameters: { ...periodParameters, level } }
  return [
    route({
      ...common,
      id: 'reports.dwell',
      path: '/reports/dwell',
      summary: 'Report how long assets stayed at each location',
      description: `The ${rowsText} locations with the most minutes.`,
      query,
      success: { status: 200, description: 'One entry per location, longest first', schema: arrayOf(DwellOut) },
      async handle({ principal, query: given }) {
        const stays = await dwellPerLocation(
          deps.db.replica(principal.orgId),
          principal.orgId,
          ...periodOf(deps.clock, given),
          given.level,
        )
        return ok({ data: stays.map(presentDwell) })
      },
    }),
    route({
      ...common,
      id: 'reports.flow',
      path: '/reports/flow',
      summary: 'Report how often assets moved from one location to another',
      description: `The ${rowsText} busiest pairs of locations.`,
      query,
      success: { status: 200, description: 'One entry per pair, busiest first', schema: arrayOf(FlowOut) },
      async handle({ principal, query: given }) {
        const flows = await flowBetween(
          deps.db.replica(principal.orgId),
          principal.orgId,
          ...periodOf(deps.clock, given),
          given.level,
        )
        return ok({ data: flows.map(presentFlow) })
      },
    }),
    route({
      ...common,
      id: 'reports.assets-per-location',
      path: '/reports/assets-per-location',
      summary: 'Report how many assets were at each location at an instant',
      description: `The ${rowsText} locations with the most assets.`,
      query: { parameters: { at: { ...timestampParam, description: 'Default: now.' }, level } },
      success: {
        status: 200,
        description: 'One entry per location, most assets first; the location is null for the assets at none',
        schema: arrayOf(AssetsPerLocationOut),
      },
      async handle({ principal, query: given }) {
        const now = instantFromMillis(deps.clock.millis())
        const request = { at: given.at, now, level: given.level }
        const counts = await assetsPerLocation(deps.db.replica(principal.orgId), principal.orgId, request)
        return ok({ data: counts.map(presentAssetsPerLocation) })
      },
    }),
  ]
}
