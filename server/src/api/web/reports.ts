import { reference } from '../../http/fields.ts'
import { moment } from '../../http/query.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { nullable } from '../../http/schema.ts'
import { type Wire, component, wholeList } from '../../http/shape.ts'
import type { Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/errors.ts'
import { type Instant, instantFromMillis, millisOf } from '../../kernel/instant.ts'
import type { Needs } from '../../records/record.ts'
import { type Dwell, type Flow, dwellPerLocation, flowBetween } from '../../tracking/stays.sql.ts'
import { line, whole } from './fields.ts'

const DwellOut = component(
  'Dwell',
  {
    location_id: reference,
    external_key: nullable(line),
    name: line,
    minutes: whole,
    assets: whole,
    visits: whole,
  },
  { location_id: 7710249930581042, external_key: 'DOCK-3', name: 'Dock 3', minutes: 480, assets: 2, visits: 3 },
)

const FlowOut = component(
  'Flow',
  {
    from_location_id: nullable(reference),
    from_name: nullable(line),
    to_location_id: reference,
    to_name: line,
    moves: whole,
  },
  { from_location_id: null, from_name: null, to_location_id: 7710249930581042, to_name: 'Dock 3', moves: 12 },
)

export const reportComponents = [DwellOut, FlowOut]

const presentDwell = (one: Dwell): Wire<(typeof DwellOut)['shape']> => ({
  location_id: one.locationId,
  external_key: one.externalKey,
  name: one.name,
  minutes: one.minutes,
  assets: one.assets,
  visits: one.visits,
})

const presentFlow = (one: Flow): Wire<(typeof FlowOut)['shape']> => ({
  from_location_id: one.from?.id ?? null,
  from_name: one.from?.name ?? null,
  to_location_id: one.to.id,
  to_name: one.to.name,
  moves: one.moves,
})

const weekMs = 7 * 86_400_000
const parameters = {
  from: { ...moment, description: 'A week before `to` when absent.' },
  to: { ...moment, description: 'Now when absent. The future counts as now.' },
}

/** The span asked for; nothing has happened yet in the future. */
function spanOf(clock: Clock, given: { from?: Instant | undefined; to?: Instant | undefined }): [Instant, Instant] {
  const nowAt = instantFromMillis(clock.millis())
  const to = given.to === undefined || given.to > nowAt ? nowAt : given.to
  const from = given.from ?? instantFromMillis(millisOf(to) - weekMs)
  if (given.to !== undefined && from > given.to)
    throw refuse.invalid({ field: 'to', code: 'invalid_value', message: 'to must not be before from' })
  return [from > to ? to : from, to]
}

/** What happened over a span of time, added up. */
export function reportRoutes(needs: Needs): AnyRoute[] {
  const common = { group: 'Reports', method: 'GET', access: 'session', scopes: ['tracking:read'] } as const
  const query = { parameters }
  return [
    route({
      ...common,
      id: 'reports.dwell',
      path: '/reports/dwell',
      summary: 'How long things stayed at each location',
      query,
      success: { status: 200, description: 'One entry per location, longest first', schema: wholeList(DwellOut) },
      async handle({ caller, query: given }) {
        const stays = await dwellPerLocation(
          needs.db.reports(caller.orgId),
          caller.orgId,
          ...spanOf(needs.clock, given),
        )
        return ok({ data: stays.map(presentDwell) })
      },
    }),
    route({
      ...common,
      id: 'reports.flow',
      path: '/reports/flow',
      summary: 'How often things went from one location to another',
      description: 'The thousand busiest pairs.',
      query,
      success: { status: 200, description: 'One entry per pair, busiest first', schema: wholeList(FlowOut) },
      async handle({ caller, query: given }) {
        const flows = await flowBetween(needs.db.reports(caller.orgId), caller.orgId, ...spanOf(needs.clock, given))
        return ok({ data: flows.map(presentFlow) })
      },
    }),
  ]
}
