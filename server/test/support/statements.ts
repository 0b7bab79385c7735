import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { testedCrossShardStatements, crossShardSteps } from '../../src/db/citus/cross-shard.ts'
import { type Sql, render } from '../../src/db/sql.ts'
import { tables } from '../../src/db/schema/tables.ts'
import { type TenancyRules, tenancyViolations, loadSqlParser, statementTables } from './tenant-sql-linter.ts'

export const coverageFolder = fileURLToPath(new URL('../../.cache/coverage', import.meta.url))

/** The literal parts of a template: the same in the source and at run time. */
export const templateFingerprint = (strings: readonly string[]): string => strings.join('\u0000')

const kinds = new Map(tables.map(({ name, kind }) => [name, kind]))

const listed = new Set(testedCrossShardStatements.map(({ statement }) => statement))

/** The reasons why a statement would not run on Citus, or not as the manual says. */
export function citusViolations(text: string): string[] {
  const used = statementTables(text).map((name) => ({ name, kind: kinds.get(name) }))
  const local = used.filter(({ kind }) => kind === 'local').map(({ name }) => name)
  const found = crossShardSteps(text)
    .filter((step) => !listed.has(step))
    .map((step) => `${step} is not in the list of what does not run on one shard (db/citus/cross-shard.ts)`)
  if (local.length > 0 && used.some(({ kind }) => kind === 'tenant'))
    found.push(`${local.join(', ')} stays on the coordinator and may not stand beside a tenant table`)
  // Citus qualifies the column with the table's name, which differs on the shard.
  if (/\binsert into \w+ \([^)]*\)\s*select\b.*\breturning\b/s.test(text))
    found.push('an INSERT … SELECT that returns rows names its table: insert into … as made')
  return found
}

/** A value as an SQL literal, for EXPLAIN on a cluster, where the value itself hardly matters. */
function literalOf(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  const text = Array.isArray(value)
    ? `{${value
        .slice(0, 3)
        .map((one) => (one === null ? 'NULL' : JSON.stringify(String(one))))
        .join(',')}}`
    : value instanceof Uint8Array
      ? `\\x${Buffer.from(value).toString('hex')}`
      : typeof value === 'string'
        ? value
        : JSON.stringify(value)
  return `'${text.replaceAll("'", "''")}'`
}

export interface RunStatement {
  text: string
  values: readonly unknown[]
  /** What `templatePrint` makes of its templates. */
  templates: readonly string[]
}

/** The tenant tables and functions of the schema. They are read once per worker: every test database has the same schema. */
let rules: Promise<TenancyRules> | undefined

async function readRules(url: string): Promise<TenancyRules> {
  await loadSqlParser()
  const admin = postgres(url, { max: 1, onnotice: () => undefined })
  const rows = await admin<
    { tablename: string }[]
  >`select distinct tablename from pg_policies where schemaname = 'public'`
  const functions = await admin<{ name: string }[]>`
    select proname as name from pg_proc where pronamespace = 'public'::regnamespace and proargnames[1] = 'tenant_id'`
  await admin.end({ timeout: 5 })
  return {
    tenantTables: new Set(rows.map((row) => row.tablename)),
    tenantFunctions: new Set(functions.map((row) => row.name)),
  }
}

/** The violations of every statement that this worker has parsed. Most test files run the same statements. */
const parsed = new Map<string, readonly string[]>()

function violationsOf(text: string, tenancy: TenancyRules): readonly string[] {
  const known = parsed.get(text)
  if (known !== undefined) return known
  const found = [...tenancyViolations(text, tenancy), ...citusViolations(text)].map((one) => `${one}\n${text}`)
  parsed.set(text, found)
  return found
}

/**
 * Checks every statement that the service runs in a test for tenant isolation, and records which templates of the
 * source were used, so that a later check can name the templates that no test ran.
 */
export async function watchStatements(url: string) {
  rules ??= readRules(url)
  const tenancy = await rules
  const checked = new Set<string>()
  const templates = new Set<string>()
  const violations: string[] = []
  const examples = new Map<string, string[]>()
  const check = ({ text, values, templates: prints }: RunStatement): void => {
    if (checked.has(text)) return
    checked.add(text)
    for (const print of prints) templates.add(print)
    violations.push(...violationsOf(text, tenancy))
    examples.set(text, values.map(literalOf))
  }
  return {
    violations,
    check,
    onStatement(statement: Sql): void {
      const { text, values } = render(statement)
      if (!checked.has(text)) check({ text, values, templates: statement.templates.map(templateFingerprint) })
    },
    save(): void {
      mkdirSync(coverageFolder, { recursive: true })
      const name = `statements-${process.pid}-${Math.random().toString(36).slice(2)}.json`
      writeFileSync(join(coverageFolder, name), JSON.stringify([...templates]))
      writeFileSync(join(coverageFolder, `examples-${name}`), JSON.stringify([...examples]))
    },
  }
}
