import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { distribute, isDistributed, statementFor } from '../../src/db/citus/distribute.ts'
import { testedCrossShardStatements, crossShardStatements, crossShardSteps } from '../../src/db/citus/cross-shard.ts'
import { tables } from '../../src/db/schema/tables.ts'
import { schemaProblems } from '../support/citus.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'
import { migrate } from '../../src/db/schema/migrate.ts'
import { loadSqlParser } from '../support/tenant-sql-linter.ts'
import { emptyDatabase, repository } from '../support/process.ts'
import { citusViolations } from '../support/statements.ts'

let database: TestDatabase
let sql: postgres.Sql

beforeAll(async () => {
  // Citus itself would reject what the check has to find.
  database = await emptyDatabase()
  await migrate(database.url)
  sql = postgres(database.url, { max: 1, onnotice: () => undefined })
})
afterAll(async () => {
  await sql.end({ timeout: 5 })
  await database.drop()
})

describe('The schema', () => {
  it('can be distributed by organization as it is', async () => {
    expect(await schemaProblems(sql)).toEqual([])
  })

  it.each([
    ['an unlisted table', 'create table extra (id bigint)', ['extra is not in the list of tables']],
    [
      'a tenant table whose organization may be missing',
      'alter table import_rows drop constraint import_rows_pk; alter table import_rows alter org_id drop not null',
      ['import_rows has no primary key', 'import_rows has no column org_id bigint not null'],
    ],
    [
      'an index that makes something unique over all organizations',
      'create unique index assets_name on assets (name)',
      ['the unique index assets_name of assets does not begin with org_id'],
    ],
    [
      'a foreign key into another organization',
      'alter table tags add constraint tags_stray foreign key (asset_id, org_id) references assets (id, org_id)',
      null,
    ],
    [
      'a key to a table that lives elsewhere',
      'alter table credentials add constraint credentials_by foreign key (org_id) references organization_names (org_id)',
      ['the foreign key credentials_by of credentials leads to organization_names, a table of another kind'],
    ],
    [
      'a key that sets null',
      `alter table tags add constraint tags_null foreign key (org_id, asset_id) references assets (org_id, id)
        on delete set null`,
      ['the foreign key tags_null of tags sets null or a default'],
    ],
    [
      'a key without an explicit name',
      'alter table tags add foreign key (org_id, asset_id) references assets (org_id, id)',
      ['the foreign key tags_org_id_asset_id_fkey of tags has no name of its own'],
    ],
    [
      'a column that counts by itself',
      'alter table moves add column n bigint generated always as identity',
      ['moves.n comes from a sequence'],
    ],
    [
      'a trigger',
      `create function nothing() returns trigger language plpgsql as 'begin return null; end';
       create trigger watch after insert on tags for each row execute function nothing()`,
      ['tags has the trigger watch'],
    ],
    ['a rule', 'create rule quiet as on delete to tags do instead nothing', ['tags has the rule quiet']],
    [
      'a month that is partitioned again',
      `create table later partition of asset_minutes for values from ('2199-01-01') to ('2199-02-01')
        partition by range (minute)`,
      ['asset_minutes is partitioned twice: later'],
    ],
    [
      'a tenant table without row level security',
      'drop policy one_organization on tags; drop policy checked_reads on tags',
      ['tags has no row level security'],
    ],
    [
      'a table that may be lost in a crash and is in every backup',
      'alter table webhook_outbox set unlogged',
      ['webhook_outbox is unlogged, and not fleeting in the list of tables'],
    ],
    [
      'a table that no backup holds although it outlives a crash',
      'alter table recent_sightings set logged',
      ['recent_sightings is fleeting in the list of tables, and not unlogged'],
    ],
  ])('could not be distributed with %s, and the check says so', async (_what, change, problems) => {
    await sql.unsafe('begin')
    try {
      if (problems === null)
        await sql.unsafe('create unique index assets_turned on assets (id, org_id)').then(() => sql.unsafe(change))
      else await sql.unsafe(change)
      const found = await schemaProblems(sql)
      if (problems === null)
        expect(found).toContain('the foreign key tags_stray of tags leads into another organization')
      else expect(found).toEqual(problems)
    } finally {
      await sql.unsafe('rollback')
    }
  })
})

describe('Distributing', () => {
  it('fails with instructions where Citus is not installed, and changes nothing', async () => {
    await expect(distribute(database.url)).rejects.toThrow(
      /^This (server does not have the extension citus, so .+ How to get it: https:|database lacks the extension citus, .+)/,
    )
    expect(await isDistributed(database.url)).toBe(false)
    expect(await schemaProblems(sql)).toEqual([])
  })

  it.runIf(inject('isCitus'))('a second time finds nothing to do, and both roles can reach the nodes', async () => {
    const cluster = await cloneDatabase()
    const unchanged = tables.filter(({ kind }) => kind !== 'local').length
    expect(await distribute(cluster.url)).toEqual({ distributed: [], unchanged })
    expect(await isDistributed(cluster.url)).toBe(true)
    expect(await sql`select from pg_roles where rolname like 'lastseen%' and not rolcanlogin`).toHaveLength(0)
    await cluster.drop()
  })

  it.runIf(inject('isCitus'))(
    'leaves no table unlogged, because shards of unlogged tables cannot be moved',
    async () => {
      const cluster = await cloneDatabase()
      const there = postgres(cluster.url, { max: 1, onnotice: () => undefined })
      const unlogged = await there`
      select c.relname from pg_dist_partition d join pg_class c on c.oid = d.logicalrelid where c.relpersistence = 'u'`
      await there.end({ timeout: 5 })
      await cluster.drop()
      expect(unlogged).toHaveLength(0)
    },
  )

  it('distributes reference tables first, then organizations, then the colocated tenant tables', () => {
    const order = tables.flatMap(({ name, kind }) => (kind === 'local' ? [] : [statementFor(name, kind)]))
    const first = order.findIndex((one) => one.includes('create_distributed_table'))
    expect(order.slice(0, first).every((one) => one.includes('create_reference_table'))).toBe(true)
    expect(order[first]).toBe("select create_distributed_table('organizations', 'org_id', colocate_with => 'none')")
    for (const one of order.slice(first + 1))
      expect(one).toMatch(/^select create_distributed_table\('\w+', 'org_id', colocate_with => 'organizations'\)$/)
  })
})

describe('The manual', () => {
  const manual = readFileSync(join(repository, 'docs/scaling.md'), 'utf8')
  const row = (...cells: string[]): string => `| ${cells.join(' | ')} |`

  it('lists every table that is not distributed by organization, with the reason', () => {
    const rows = tables.flatMap(({ name, kind, reason }) =>
      reason === undefined ? [] : [row(`\`${name}\``, kind, reason)],
    )
    expect(manual).toContain(rows.join('\n'))
  })

  it('lists every statement that does not run on one shard, with the reason', () => {
    const rows = crossShardStatements.map(({ statement, where, scope, reason }) =>
      row(statement, `\`${where}\``, scope, reason),
    )
    expect(manual).toContain(rows.join('\n'))
  })

  it('lists no such statement that is not in the source', () => {
    const gone = testedCrossShardStatements.filter(
      ({ statement, where }) => !readFileSync(join(repository, 'server/src', where), 'utf8').includes(statement),
    )
    expect(gone).toEqual([])
  })
})

describe('A statement', () => {
  beforeAll(loadSqlParser)

  it.each([
    ['select name from assets where org_id = $1 for update', []],
    ['select org_id from client_ids where client_id = $1', []],
    ['insert into users (user_id) values ($1)', ['insert into users']],
    ['delete from unknown_topics where topic < (select topic from unknown_topics)', ['delete from unknown_topics']],
    ['select id_key from installation', ['from installation']],
    ['select pg_notify($1, $2)', ['select pg_notify']],
    ['select s.* from record_operator_sighting($1, $2) s', ['from record_operator_sighting']],
    ['select u.n from unnest($1::int[]) u (n)', []],
  ])('%s goes beyond one shard with %j', (text, steps) => {
    expect(crossShardSteps(text)).toEqual(steps)
  })

  it.each([
    ['update organization_names set name = $1', 'update organization_names is not in the list'],
    ['select from assets a join installation i on true where a.org_id = $1', 'installation stays on the coordinator'],
    ['insert into tags (org_id, id) select o.org_id, $2 from organizations o returning id', 'names its table'],
  ])('that would not run on a cluster is found: %s', (text, problem) => {
    expect(citusViolations(text).join()).toContain(problem)
  })
})
