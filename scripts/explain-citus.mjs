/**
 * Asks a Citus cluster which statements of the service run on one shard: plans every statement that the last test run
 * recorded, with an example of its values, and executes none. `node scripts/explain-citus.mjs postgres://…` names a
 * migrated and distributed database. Ends with 1 when a statement reaches several shards or cannot be planned.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ensureBuilt, root } from './ensure.mjs'

ensureBuilt()
const { openPool } = await import('../server/dist/db/connect.js')

const [url] = process.argv.slice(2)
const folder = join(root, 'server/.cache/evidence')
const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('examples-')) : []
const examples = new Map(names.flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8'))))

const say = (line) => process.stdout.write(`${line}\n`)
const shown = (text) => text.replace(/\s+/g, ' ').trim().slice(0, 150)

/** The sum over all parts of a plan that Citus sends out; none for what the coordinator does by itself. */
function tasksOf(node) {
  if (Array.isArray(node)) return node.reduce((sum, one) => sum + tasksOf(one), 0)
  if (node === null || typeof node !== 'object') return 0
  const own = typeof node['Task Count'] === 'number' ? node['Task Count'] : 0
  return own > 0 ? own : Object.values(node).reduce((sum, one) => sum + tasksOf(one), 0)
}

async function shardsOf(sql, text, values) {
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

async function main() {
  if (url === undefined) throw new Error('Name the database: node scripts/explain-citus.mjs postgres://…')
  if (examples.size === 0) throw new Error('No statements are recorded. Run npm test first.')
  const sql = openPool(url, 1, { plan_cache_mode: 'force_custom_plan' })
  try {
    const isCitus = (await sql`select from pg_extension where extname = 'citus'`).length > 0
    const counts = { 'on one shard': 0, 'on the coordinator alone': 0, 'on several shards': 0, 'not planned': 0 }
    for (const [text, values] of examples) {
      const found = await shardsOf(sql, text, values).catch((error) => error)
      const isBad = found instanceof Error || found > 1
      const where = found === 0 ? 'on the coordinator alone' : found === 1 ? 'on one shard' : 'on several shards'
      counts[found instanceof Error ? 'not planned' : where]++
      if (isBad) say(`${found instanceof Error ? found.message : `${found} shards`}: ${shown(text)}`)
    }
    for (const [what, count] of Object.entries(counts)) say(`${count} ${what}`)
    if (!isCitus) say('This database has no Citus: nothing is said about shards.')
    return isCitus && counts['on several shards'] + counts['not planned'] === 0
  } finally {
    await sql.end({ timeout: 5 })
  }
}

process.exitCode = (await main().catch((error) => void say(error.message))) ? 0 : 1
