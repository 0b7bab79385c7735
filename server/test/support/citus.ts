import type postgres from 'postgres'
import { type TableKind, fleetingTables, tables } from '../../src/db/schema/tables.ts'

interface Relation {
  name: string
  isUnlogged: boolean
  hasPolicy: boolean
  orgColumn: string | null
  triggers: string[]
  rules: string[]
  generated: string[]
  subPartitions: string[]
}

interface Key {
  table: string
  name: string
  kind: 'primary key' | 'unique index' | 'foreign key'
  columns: string[]
  to: string | null
  toColumns: string[] | null
  onDelete: string | null
}

/** The tables of the database, from its catalog. */
function relationsOf(sql: postgres.Sql): Promise<Relation[]> {
  return sql<Relation[]>`
    select c.relname::text as name, c.relpersistence = 'u' as "isUnlogged",
      exists (select from pg_policy p where p.polrelid = c.oid) as "hasPolicy",
      (select format_type(a.atttypid, null) || case when a.attnotnull then '' else ' null' end
        from pg_attribute a where a.attrelid = c.oid and a.attname = 'org_id') as "orgColumn",
      array(select t.tgname::text from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal) as triggers,
      array(select r.rulename::text from pg_rewrite r where r.ev_class = c.oid) as rules,
      array(select a.attname::text from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0
          and (a.attidentity <> '' or pg_get_expr(d.adbin, d.adrelid) like '%nextval(%')) as generated,
      array(select k.relname::text from pg_inherits i join pg_class k on k.oid = i.inhrelid
        where i.inhparent = c.oid and k.relkind = 'p') as "subPartitions"
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname`
}

/** Unique and foreign-key constraints and unique indexes. */
function keysOf(sql: postgres.Sql): Promise<Key[]> {
  return sql<Key[]>`
    select t.relname::text as table, i.relname::text as name,
      case when x.indisprimary then 'primary key' else 'unique index' end as kind,
      array(select pg_get_indexdef(x.indexrelid, n, true) from generate_series(1, x.indnkeyatts) n) as columns,
      null as to, null::text[] as "toColumns", null as "onDelete"
    from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
    where t.relnamespace = 'public'::regnamespace and not t.relispartition and x.indisunique
    union all
    select t.relname, k.conname, 'foreign key',
      array(select a.attname::text from unnest(k.conkey) with ordinality u (n, at)
        join pg_attribute a on a.attrelid = k.conrelid and a.attnum = u.n order by u.at),
      o.relname,
      array(select a.attname::text from unnest(k.confkey) with ordinality u (n, at)
        join pg_attribute a on a.attrelid = k.confrelid and a.attnum = u.n order by u.at),
      k.confdeltype::text || k.confupdtype::text
    from pg_constraint k join pg_class t on t.oid = k.conrelid join pg_class o on o.oid = k.confrelid
    where k.contype = 'f' and t.relnamespace = 'public'::regnamespace and not t.relispartition
    order by 1, 2`
}

/** A generated constraint name, which is not stable over shards. */
const isMadeUp = ({ table, name, columns }: Key): boolean => {
  const plain = name.replace(/\d+$/, '')
  return (
    plain === `${table}_pkey` || ['key', 'fkey', 'idx'].some((end) => plain === `${table}_${columns.join('_')}_${end}`)
  )
}

function keyProblems(key: Key, kinds: ReadonlyMap<string, TableKind>, order: readonly string[]): string[] {
  const problems: string[] = []
  const what = `the ${key.kind} ${key.name} of ${key.table}`
  const kind = kinds.get(key.table)
  if (kind === 'tenant' && key.columns[0] !== 'org_id') problems.push(`${what} does not begin with org_id`)
  if (kind !== 'local' && isMadeUp(key)) problems.push(`${what} has no name of its own`)
  if (key.to === null) return problems
  if (kinds.get(key.to) !== kind) problems.push(`${what} leads to ${key.to}, a table of another kind`)
  else if (kind === 'tenant' && key.toColumns?.[0] !== 'org_id')
    problems.push(`${what} leads into another organization`)
  if (/[nd]/.test(key.onDelete ?? '')) problems.push(`${what} sets null or a default`)
  if (key.to !== key.table && order.indexOf(key.to) > order.indexOf(key.table))
    problems.push(`${key.to} stands behind ${key.table} in the list of tables`)
  return problems
}

function relationProblems(one: Relation, kinds: ReadonlyMap<string, TableKind>): string[] {
  const kind = kinds.get(one.name)
  if (kind === undefined) return [`${one.name} is not in the list of tables`]
  const problems: string[] = []
  if (kind === 'tenant' && one.orgColumn !== 'bigint') problems.push(`${one.name} has no column org_id bigint not null`)
  if (kind === 'tenant' && !one.hasPolicy) problems.push(`${one.name} has no row level security`)
  if (kind !== 'tenant' && one.hasPolicy) problems.push(`${one.name} has row level security and is no tenant table`)
  const isFleeting = fleetingTables.includes(one.name)
  if (one.isUnlogged && !isFleeting) problems.push(`${one.name} is unlogged, and not fleeting in the list of tables`)
  if (isFleeting && !one.isUnlogged) problems.push(`${one.name} is fleeting in the list of tables, and not unlogged`)
  for (const name of one.triggers) problems.push(`${one.name} has the trigger ${name}`)
  for (const name of one.rules) problems.push(`${one.name} has the rule ${name}`)
  for (const name of one.generated) problems.push(`${one.name}.${name} comes from a sequence`)
  for (const name of one.subPartitions) problems.push(`${one.name} is partitioned twice: ${name}`)
  return problems
}

/** The reasons why this schema cannot be distributed by organization; [] when it can. Works on plain PostgreSQL. */
export async function schemaProblems(sql: postgres.Sql): Promise<string[]> {
  const kinds = new Map(tables.map(({ name, kind }) => [name, kind]))
  const order = tables.map(({ name }) => name)
  const relations = await relationsOf(sql)
  const keys = await keysOf(sql)
  const found = new Set(relations.map(({ name }) => name))
  const withKey = new Set(keys.filter(({ kind }) => kind === 'primary key').map(({ table }) => table))
  return [
    ...order.filter((name) => !found.has(name)).map((name) => `${name} is in the list and not in the database`),
    ...order.filter((name) => found.has(name) && !withKey.has(name)).map((name) => `${name} has no primary key`),
    ...relations.flatMap((one) => relationProblems(one, kinds)),
    ...keys.filter(({ table }) => kinds.has(table)).flatMap((key) => keyProblems(key, kinds, order)),
  ]
}
