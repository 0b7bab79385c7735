/**
 * How PostgreSQL plans the statements. `plan_cache_mode` is set once per connection, by the purpose of the connection:
 *
 * - Transactions, and reads marked `withGenericPlan`: `force_generic_plan`. The statement is planned once per connection.
 *   These statements have one good plan for every tenant, and planning a point read takes longer than running it.
 *   They are planned for the largest tenant: `0001_schema.sql` sets `n_distinct` of `org_id` to 1. Without it, in a database of
 *   a million assets, 3,000 tenants with 300 each and one with 100,000, the first page of the large tenant's report took
 *   600 to 780 ms instead of 5: the plan for an average tenant sorts all of its assets.
 * - Reads marked `withPlanPerExecution` have no name, so that PostgreSQL plans them every time, for the sizes that the tables
 *   have then. With the plan of an almost empty organization, the report of a location with 10,000 assets takes more than
 *   5 s instead of 0.1.
 * - Every other read: `auto`, PostgreSQL's default. Searches and reports depend on their values.
 * - `withCustomPlan` within a transaction: for tables whose size changes quickly between empty and large, and for deletes
 *   by time. With the plan of the empty outbox, claiming 20 of 500,000 moves takes 2,480 ms instead of 0.5, and deleting
 *   expired ones 21,800 ms instead of 153. Deleting 1,000 of 2 million moves takes 6,900 ms instead of 11.
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
