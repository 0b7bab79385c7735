/** Writes the two tables of docs/scaling.md from the lists in server/src/db. `npm test` fails while they differ. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildWorkspaces, root } from './bootstrap.mjs'

buildWorkspaces()
const { tables } = await import('../server/dist/db/schema/tables.js')
const { crossShardStatements } = await import('../server/dist/db/citus/cross-shard.js')
const page = join(root, 'docs/scaling.md')

const row = (...cells) => `| ${cells.join(' | ')} |`
const parts = {
  tables: tables.filter(({ reason }) => reason).map(({ name, kind, reason }) => row(`\`${name}\``, kind, reason)),
  'cross-shard': crossShardStatements.map(({ statement, where, scope, reason }) =>
    row(statement, `\`${where}\``, scope, reason),
  ),
}

let text = readFileSync(page, 'utf8')
for (const [name, rows] of Object.entries(parts))
  text = text.replace(
    new RegExp(`(<!-- ${name} -->\\n\\n(?:\\|.*\\n){2})(?:\\|.*\\n)*`),
    (_, head) => `${head}${rows.join('\n')}\n`,
  )
writeFileSync(page, text)
