import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testedCrossShardStatements } from '../../src/db/citus/cross-shard.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'
import { loadSqlParser } from '../support/tenant-sql-linter.ts'
import { functionViolations } from '../support/function-sql-linter.ts'

interface OurFunction {
  name: string
  definition: string
  language: string
  runs_as_caller: boolean
  is_volatile: boolean
  executors: string[]
}

let database: TestDatabase
let functions: OurFunction[]
const rules = { tenantTables: new Set<string>(), tenantFunctions: new Set<string>() }

beforeAll(async () => {
  await loadSqlParser()
  database = await cloneDatabase()
  const sql = postgres(database.url, { max: 1, onnotice: () => undefined })
  functions = await sql<OurFunction[]>`
    select p.proname as name, pg_get_functiondef(p.oid) as definition, l.lanname as language,
      not p.prosecdef as runs_as_caller, p.provolatile = 'v' as is_volatile,
      array(select coalesce(r.rolname, 'public') from aclexplode(p.proacl) a left join pg_roles r on r.oid = a.grantee
        where a.grantee <> p.proowner order by 1) as executors
    from pg_proc p join pg_language l on l.oid = p.prolang
    where p.pronamespace = 'public'::regnamespace
      and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e') order by 1`
  const tables = await sql<{ name: string }[]>`select distinct tablename as name from pg_policies`
  await sql.end({ timeout: 5 })
  for (const { name } of tables) rules.tenantTables.add(name)
  for (const { name } of functions) rules.tenantFunctions.add(name)
})
afterAll(() => database.drop())

describe('The functions in the database', () => {
  it('are those that record sightings', () => {
    expect(functions.map(({ name }) => name)).toEqual([
      'add_departures_without_move',
      'add_late_departures',
      'correct_first_sightings',
      'count_first_sightings',
      'count_location_moves',
      'record_operator_sighting',
      'record_reads',
      'record_sightings',
      'resolve_reads',
    ])
  })

  it('that the service calls are listed as running on the coordinator of a cluster', () => {
    const inner = ['add_departures_without_move', 'add_late_departures', 'count_first_sightings']
    const called = functions.filter(({ name }) => !inner.includes(name))
    const listed = testedCrossShardStatements.map(({ statement }) => statement)
    expect(listed).toEqual(expect.arrayContaining(called.map(({ name }) => `from ${name}`)))
  })

  it('run with the privileges of the caller, subject to row level security, and only the writing role may call them', () => {
    for (const { name, language, runs_as_caller, is_volatile, executors } of functions)
      expect([name, language, runs_as_caller, is_volatile, executors]).toEqual([
        name,
        'plpgsql',
        true,
        true,
        ['lastseen_writer'],
      ])
  })

  it('keep every statement in them to one organization, and to what runs on Citus', () => {
    for (const { name, definition } of functions)
      expect([name, functionViolations(definition, rules)]).toEqual([name, []])
  })
})

describe('The check of functions', () => {
  const made = (body: string, given = 'tenant_id bigint, other bigint'): string =>
    `create function record_reads(${given}) returns setof bigint language plpgsql as $$ declare x bigint; begin ${body} end $$`

  it('finds nothing in a function that names its organization', () => {
    expect(functionViolations(made('return query select id from assets where org_id = tenant_id;'), rules)).toEqual([])
  })

  it.each([
    ['a read of every organization', 'perform id from assets;', 'assets is not bound'],
    ['a read of another organization', 'perform id from assets where org_id = other;', 'assets is not bound'],
    ['a condition that reads', 'if exists (select from assets) then return; end if;', 'assets is not bound'],
    ['an assignment that reads', 'x := (select max(id) from assets);', 'assets is not bound'],
    ['a loop over rows', 'for x in select id from tags loop return next x; end loop;', 'tags is not bound'],
    ['a write', "update assets set name = 'x' where id = other;", 'assets is not bound'],
    ['a row for another organization', 'insert into assets (org_id, id) values (other, 1);', 'INSERT into assets'],
    [
      'a call for another organization',
      'perform record_operator_sighting(other);',
      'record_operator_sighting() must be given the organization',
    ],
    ['another value for the organization', 'tenant_id := other;', 'gives tenant_id another value'],
    ['another value from a statement', 'select other into tenant_id;', 'gives tenant_id another value'],
    ['another value from a loop', 'for tenant_id in select 1 loop return; end loop;', 'gives tenant_id another value'],
    ['text that comes into being later', "execute 'delete from assets';", 'text that the linter cannot see'],
    ['rows of such text', "for x in execute 'select 1' loop return; end loop;", 'text that the linter cannot see'],
    ['such text as the answer', "return query execute 'select 1';", 'text that the linter cannot see'],
    ['a write that goes everywhere', 'update organization_names set name = $2;', 'does not run on one shard'],
  ])('finds %s', (_what, body, problem) => {
    expect(functionViolations(made(body), rules).join('\n')).toContain(problem)
  })

  it('finds a function that takes no organization', () => {
    expect(functionViolations(made('return;', 'other bigint'), rules)).toEqual(['its first argument is not tenant_id'])
  })
})
