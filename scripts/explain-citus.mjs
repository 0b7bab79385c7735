/**
 * Reports which statements of the service do not run on a single shard of a Citus cluster. It runs EXPLAIN, without
 * executing anything, for every statement that the last test run recorded, with example values, and for every statement
 * inside the database's functions. `node scripts/explain-citus.mjs postgres://…` takes the URL of a migrated and
 * distributed database. It prints a table with the reason of each statement from server/src/db/citus/cross-shard.ts, and exits
 * with 1 when a statement has no reason or cannot be planned.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { loadModule, parsePlPgSQLSync } from 'libpg-query'
import postgres from 'postgres'
import { buildWorkspaces, root } from './bootstrap.mjs'

buildWorkspaces()
const { crossShardSteps, testedCrossShardStatements } = await import('../server/dist/db/citus/cross-shard.js')
const { tables } = await import('../server/dist/db/schema/tables.js')

const [url] = process.argv.slice(2)
const folder = join(root, 'server/.cache/coverage')
const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('examples-')) : []
const examples = new Map(names.flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8'))))

const print = (line) => process.stdout.write(`${line}\n`)
const excerpt = (text) => text.replace(/\s+/g, ' ').trim().slice(0, 100).replaceAll('|', '\\|')

/** The number of tasks in a plan that Citus sends to shards; 0 when the coordinator executes the statement itself. */
function countTasks(node) {
  if (Array.isArray(node)) return node.reduce((sum, one) => sum + countTasks(one), 0)
  if (node === null || typeof node !== 'object') return 0
  const own = typeof node['Task Count'] === 'number' ? node['Task Count'] : 0
  return own > 0 ? own : Object.values(node).reduce((sum, one) => sum + countTasks(one), 0)
}

async function explainTasks(sql, text, values) {
  // SET cannot be prepared, and it affects only the session.
  if (/^\s*set\s/.test(text)) return 0
  await sql.unsafe(`prepare candidate as ${text}`).simple()
  try {
    const parameters = values.length === 0 ? '' : `(${values.join(', ')})`
    const [row] = await sql.unsafe(`explain (format json) execute candidate${parameters}`).simple()
    const plan = row['QUERY PLAN']
    return countTasks(typeof plan === 'string' ? JSON.parse(plan) : plan)
  } finally {
    await sql.unsafe('deallocate candidate').simple()
  }
}

const samples = { timestamp: '2026-05-04', boolean: 'true', uuid: '00000000-0000-4000-8000-000000000000' }

/** A SQL literal of the type. The value does not matter, but with null the planner would see that no row can match. */
function exampleLiteral(type) {
  const value = Object.entries(samples).find(([start]) => type.startsWith(start))?.[1] ?? '1'
  return `'${type.endsWith('[]') ? `{${value}}` : value}'::${type}`
}

/** The text of every statement in a parsed function; parse mode 0 is a statement, other modes are expressions. */
function statementTexts(node) {
  if (node === null || typeof node !== 'object') return []
  const { PLpgSQL_expr: found } = node
  return found?.parseMode === 0 ? [found.query] : Object.values(node).flatMap(statementTexts)
}

/** The statements on tables inside the functions, with a literal in place of each variable. */
async function statementsInFunctions(sql) {
  await loadModule()
  const functions = await sql`
    select pg_get_functiondef(oid) as definition from pg_proc
    where pronamespace = 'public'::regnamespace and proargnames[1] = 'tenant_id'`
  const usesTable = new RegExp(`\\b(from|join|into|update)\\s+(${tables.map(({ name }) => name).join('|')})\\b`)
  return functions.flatMap(({ definition }) => {
    const [{ PLpgSQL_function: body }] = parsePlPgSQLSync(definition).plpgsql_funcs
    const variables = body.datums.flatMap(({ PLpgSQL_var: variable }) => variable ?? [])
    const variableName = new RegExp(`(?<![.\\w])(${variables.map(({ refname }) => refname).join('|')})\\b(?!\\()`, 'g')
    const types = new Map(variables.map(({ refname, datatype }) => [refname, datatype.PLpgSQL_type.typname]))
    const statements = statementTexts(body.action).filter((text) => usesTable.test(text))
    return statements.map((text) => [text.replaceAll(variableName, (name) => exampleLiteral(types.get(name))), []])
  })
}

/** The table rows of a statement that does not run on one shard: one row for each source file that contains it. */
function rowsFor(text, tasks, nodes) {
  const found = testedCrossShardStatements.filter(({ statement }) => crossShardSteps(text).includes(statement))
  if (found.length === 0 || tasks instanceof Error)
    return [{ statement: excerpt(text), where: '', runsOn: `${Number(tasks) || 0} tasks`, reason: null }]
  return found.map(({ statement, where, scope, reason }) => {
    // Expected is one task, which writes to a copy on every node, or none, when the coordinator executes the statement.
    const runsOn = tasks > 1 ? `${tasks} tasks` : scope === 'every node' ? `${nodes} nodes` : scope
    return { statement, where, runsOn, reason: tasks > 1 ? null : reason }
  })
}

async function main() {
  if (url === undefined) throw new Error('Pass the URL of the database: node scripts/explain-citus.mjs postgres://…')
  if (examples.size === 0) throw new Error('No statements are recorded. Run npm test first.')
  const sql = postgres(url, { max: 1, connection: { plan_cache_mode: 'force_custom_plan' } })
  try {
    if ((await sql`select from pg_extension where extname = 'citus'`).length === 0)
      throw new Error('The extension citus is not installed in this database.')
    const nodes = (await sql`select from pg_dist_node where isactive`).length
    const rows = new Map()
    let areAllExplained = true
    let singles = 0
    const candidates = new Map([...examples, ...(await statementsInFunctions(sql))])
    for (const [text, values] of candidates) {
      const tasks = await explainTasks(sql, text, values).catch((error) => error)
      const isSingle = tasks === 1 && crossShardSteps(text).length === 0
      if (isSingle) singles++
      else
        for (const { statement, where, runsOn, reason } of rowsFor(text, tasks, nodes)) {
          const problem =
            tasks instanceof Error ? `not planned: ${tasks.message}` : 'not in server/src/db/citus/cross-shard.ts'
          areAllExplained &&= reason !== null
          const cells = [statement, `\`${where}\``, runsOn, reason ?? problem]
          rows.set(cells.join(), `| ${cells.join(' | ')} |`)
        }
    }
    print('| statement | file in `server/src` | runs on | reason |\n|---|---|---|---|')
    for (const row of [...rows.values()].sort()) print(row)
    print(`\n${singles} of ${candidates.size} statements run on one shard; the others are above.`)
    return areAllExplained
  } finally {
    await sql.end({ timeout: 5 })
  }
}

process.exitCode = (await main().catch((error) => void print(error.message))) ? 0 : 1
