/**
 * How PostgreSQL plans the statements. `plan_cache_mode` is set once per connection, by the purpose of the connection:
 *
 * - Transactions, and reads marked `withGenericPlan`: `force_generic_plan`, because planning a point read takes longer than
 *   running it. `0001_schema.sql` sets `n_distinct` of `org_id` to 1, so that they are planned for the largest tenant: beside
 *   3,000 tenants of 300 assets, the report of one with 100,000 takes 5 ms instead of 600.
 * - Reads marked `withPlanPerExecution` have no name, so PostgreSQL plans them every time: the report of a location with 10,000
 *   assets takes 0.1 s instead of more than 5 with the plan of an almost empty organization.
 * - Every other read: `auto`, PostgreSQL's default, because searches and reports depend on their values.
 * - `withCustomPlan` in a transaction: for tables that change between empty and large, and for deletes by time. With the plan of
 *   the empty outbox, claiming 20 of 500,000 moves takes 2,480 ms instead of 0.5.
 *
 * Citus must see the values to find their shard, so on Citus every connection stays at `auto`.
 */
import type { PageRequest } from '../kernel/page.ts'
import type { Tx } from './database.ts'
import { Sql, sql } from './sql.ts'

/** Runs on a new connection. */
export const forceGenericPlans = `
  select set_config('plan_cache_mode', 'force_generic_plan', false)
  where not exists (select from pg_extension where extname = 'citus')`

class GenericPlan extends Sql {}

/** Marks a read whose plan does not depend on its values. */
export const withGenericPlan = (statement: Sql): Sql => new GenericPlan(statement.strings, statement.parameters)

class PlanPerExecution extends Sql {}

/** Marks a read whose best plan depends on how many rows its values select. */
export const withPlanPerExecution = (statement: Sql): Sql =>
  new PlanPerExecution(statement.strings, statement.parameters)

export const hasPlanPerExecution = (statement: Sql): boolean => statement instanceof PlanPerExecution

export const hasGenericPlan = (statement: Sql): boolean => statement instanceof GenericPlan

export async function withCustomPlan(tx: Tx): Promise<void> {
  await tx.query(sql`set local plan_cache_mode = force_custom_plan`)
}

/**
 * Literal limits, because the planner estimates a limit that is a parameter as a tenth of the rows. At a million assets the
 * first page of assets with their locations takes 1.1 ms with a literal and 1,350 ms without.
 */
const literalLimits = [
  { max: 50, literal: sql`limit 50` },
  { max: 200, literal: sql`limit 200` },
]

/** A page of an ordered select. */
export function paginate(ordered: Sql, { limit, offset }: PageRequest): Sql {
  const page = offset === 0 ? sql`${ordered} limit ${limit}` : sql`${ordered} limit ${limit} offset ${offset}`
  const upperBound = literalLimits.find(({ max }) => limit <= max)?.literal
  return upperBound === undefined ? page : sql`select * from (${page}) page_of_any_size ${upperBound}`
}
