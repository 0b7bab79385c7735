/**
 * Asks a Citus cluster which statements of the service run on one shard: plans every statement that the last test run
 * recorded, with an example of its values, and every statement inside the functions of the database; executes none.
 * `node scripts/explain-citus.mjs postgres://…` names a migrated and distributed database. Prints those that do not run
 * on one shard as a table, with the reason from server/src/db/citus/cross-shard.ts, and ends with 1 when one has no reason or
 * cannot be planned.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { loadModule, parsePlPgSQLSync } from 'libpg-query'
import { ensureBuilt, root } from './ensure.mjs'

ensureBuilt()
const { openPool } = await import('../server/dist/db/create-database.js')
const { crossShardSteps, testedCrossShardStatements } = await import('../server/dist/db/citus/cross-shard.js')
const { tables } = await import('../server/dist/db/schema/tables.js')

const [url] = process.argv.slice(2)
const folder = join(root, 'server/.cache/evidence')
const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('examples-')) : []
const examples = new Map(names.flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8'))))

const say = (line) => process.stdout.write(`${line}\n`)
const shown = (text) => text.replace(/\s+/g, ' ').trim().slice(0, 100).replaceAll('|', '\\|')

/** The sum over all parts of a plan that Citus sends out; none for what the coordinator does by itself. */
function tasksOf(node) {
  if (Array.isArray(node)) return node.reduce((sum, one) => sum + tasksOf(one), 0)
  if (node === null || typeof node !== 'object') return 0
  const own = typeof node['Task Count'] === 'number' ? node['Task Count'] : 0
  return own > 0 ? own : Object.values(node).reduce((sum, one) => sum + tasksOf(one), 0)
}

async function tasksFor(sql, text, values) {
  // A setting is not planned; it stays where it is made.
  if (/^\s*set\s/.test(text)) return 0
  await sql.unsafe(`prepare asked as ${text}`).simple()
  try {
    const given = values.length === 0 ? '' : `(${values.join(', ')})`
    const [row] = await sql.unsafe(`explain (format json) execute asked${given}`).simple()
    const plan = row['QUERY PLAN']
    return tasksOf(typeof plan === 'string' ? JSON.parse(plan) : plan)
  } finally {
    await sql.unsafe('deallocate asked').simple()
  }
}

const samples = { timestamp: '2026-05-04', boolean: 'true', uuid: '00000000-0000-4000-8000-000000000000' }

/** A value of a type, as SQL takes it. Which one matters little, but with null there would be nothing to ask for. */
function someValue(type) {
  const one = Object.entries(samples).find(([start]) => type.startsWith(start))?.[1] ?? '1'
  return `'${type.endsWith('[]') ? `{${one}}` : one}'::${type}`
}

/** The text of every statement, as opposed to an expression, in what the parser made of a function. */
function textsIn(node) {
  if (node === null || typeof node !== 'object') return []
  const { PLpgSQL_expr: found } = node
  return found?.parseMode === 0 ? [found.query] : Object.values(node).flatMap(textsIn)
}

/** The statements inside the functions that ask a table, with a value in place of each variable. */
async function statementsInFunctions(sql) {
  await loadModule()
  const functions = await sql`
    select pg_get_functiondef(oid) as definition from pg_proc
    where pronamespace = 'public'::regnamespace and proargnames[1] = 'the_org'`
  const asksTable = new RegExp(`\\b(from|join|into|update)\\s+(${tables.map(({ name }) => name).join('|')})\\b`)
  return functions.flatMap(({ definition }) => {
    const [{ PLpgSQL_function: body }] = parsePlPgSQLSync(definition).plpgsql_funcs
    const variables = body.datums.flatMap(({ PLpgSQL_var: variable }) => variable ?? [])
    const isOne = new RegExp(`(?<![.\\w])(${variables.map(({ refname }) => refname).join('|')})\\b(?!\\()`, 'g')
    const types = new Map(variables.map(({ refname, datatype }) => [refname, datatype.PLpgSQL_type.typname]))
    const statements = textsIn(body.action).filter((text) => asksTable.test(text))
    return statements.map((text) => [text.replaceAll(isOne, (name) => someValue(types.get(name))), []])
  })
}

/** What is known of a statement that does not run on one shard: one line for each place where it stands. */
function linesFor(text, tasks, nodes) {
  const found = testedCrossShardStatements.filter(({ statement }) => crossShardSteps(text).includes(statement))
  if (found.length === 0 || tasks instanceof Error)
    return [{ statement: shown(text), where: '', runsOn: `${Number(tasks) || 0} tasks`, reason: null }]
  return found.map(({ statement, where, reach, reason }) => {
    // One task that writes to a copy on every node, or what the coordinator does by itself; more was never meant.
    const runsOn = tasks > 1 ? `${tasks} tasks` : reach === 'every node' ? `${nodes} nodes` : reach
    return { statement, where, runsOn, reason: tasks > 1 ? null : reason }
  })
}

async function main() {
  if (url === undefined) throw new Error('Name the database: node scripts/explain-citus.mjs postgres://…')
  if (examples.size === 0) throw new Error('No statements are recorded. Run npm test first.')
  const sql = openPool(url, 1, { plan_cache_mode: 'force_custom_plan' })
  try {
    if ((await sql`select from pg_extension where extname = 'citus'`).length === 0)
      throw new Error('This database has no Citus: nothing is said about shards.')
    const nodes = (await sql`select from pg_dist_node where isactive`).length
    const rows = new Map()
    let isFine = true
    let singles = 0
    const asked = new Map([...examples, ...(await statementsInFunctions(sql))])
    for (const [text, values] of asked) {
      const tasks = await tasksFor(sql, text, values).catch((error) => error)
      const isSingle = tasks === 1 && crossShardSteps(text).length === 0
      if (isSingle) singles++
      else
        for (const { statement, where, runsOn, reason } of linesFor(text, tasks, nodes)) {
          const problem =
            tasks instanceof Error ? `not planned: ${tasks.message}` : 'not in server/src/db/citus/cross-shard.ts'
          isFine &&= reason !== null
          const cells = [statement, `\`${where}\``, runsOn, reason ?? problem]
          rows.set(cells.join(), `| ${cells.join(' | ')} |`)
        }
    }
    say('| statement | file in `server/src` | runs on | reason |\n|---|---|---|---|')
    for (const row of [...rows.values()].sort()) say(row)
    say(`\n${singles} of ${asked.size} statements run on one shard; the others are above.`)
    return isFine
  } finally {
    await sql.end({ timeout: 5 })
  }
}

process.exitCode = (await main().catch((error) => void say(error.message))) ? 0 : 1
