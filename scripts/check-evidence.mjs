/**
 * Fails when a statement in the source was never run by a test, or when a status the description declares was never
 * produced by one. Reads what the last test run left in .cache/evidence of the server's folder; changes nothing.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import ts from 'typescript'
import { root } from './ensure.mjs'

const server = process.argv[2] ?? join(root, 'server')

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'))

/** Everything the test files noted under one name. */
function noted(kind) {
  const folder = join(server, '.cache/evidence')
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith(`${kind}-`)) : []
  return new Set(names.flatMap((name) => readJson(join(folder, name))))
}

/** The name a file gives to the tag of db/sql.ts; null when it does not use it. */
function tagName(file) {
  for (const statement of file.statements) {
    if (!ts.isImportDeclaration(statement) || !/(^|\/)sql\.ts$/.test(statement.moduleSpecifier.text)) continue
    const bindings = statement.importClause?.namedBindings
    if (bindings === undefined || !ts.isNamedImports(bindings)) continue
    const found = bindings.elements.find((element) => (element.propertyName ?? element.name).text === 'sql')
    if (found !== undefined) return found.name.text
  }
  return null
}

/** Administrative work (migrations, partitions, backups, locks) runs on sessions of its own, which tests do not watch. */
const isAdministrative = (file) =>
  file.statements.some((one) => ts.isImportDeclaration(one) && /(^|\/)session\.ts$/.test(one.moduleSpecifier.text))

/** The literal parts of a template as the tag receives them. */
function literalParts(template) {
  if (ts.isNoSubstitutionTemplateLiteral(template)) return [template.text]
  return [template.head.text, ...template.templateSpans.map((span) => span.literal.text)]
}

function statementsIn(path) {
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
  const tag = tagName(file)
  const found = []
  const visit = (node) => {
    if (ts.isTaggedTemplateExpression(node) && ts.isIdentifier(node.tag) && node.tag.text === tag) {
      const parts = literalParts(node.template)
      const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1
      const words = parts.join(' … ').trim().split(/\s+/).slice(0, 12).join(' ')
      found.push({ print: parts.join('\u0000'), place: `${relative(server, path)}:${line}`, words })
    }
    ts.forEachChild(node, visit)
  }
  if (tag !== null && !isAdministrative(file)) visit(file)
  return found
}

const sources = readdirSync(join(server, 'src'), { recursive: true }).filter((name) => name.endsWith('.ts'))
const statements = sources.sort().flatMap((name) => statementsIn(join(server, 'src', name)))

/** Every status that the description of a surface declares for an operation. */
function declared(surface) {
  const { paths } = readJson(join(server, `openapi/${surface}.json`))
  return Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId, responses }) =>
      Object.keys(responses).map((status) => `${surface} ${operationId} ${status}`),
    ),
  )
}

/** The session API is described for the types of the web app alone, and lists refusals that no role can meet. */
const isPublished = (name) => name.endsWith('.json') && name !== 'web.json'
const described = readdirSync(join(server, 'openapi')).filter(isPublished)
const answers = described.sort().flatMap((name) => declared(basename(name, '.json')))

const ran = noted('statements')
const produced = noted('answers')
const unrun = statements.filter(({ print }) => !ran.has(print))
const unseen = answers.filter((answer) => !produced.has(answer))

if (unrun.length > 0) {
  process.stdout.write(`No test ran these ${unrun.length} of ${statements.length} statements:\n`)
  for (const { place, words } of unrun) process.stdout.write(`  ${place}  ${words}\n`)
}
if (unseen.length > 0) {
  process.stdout.write(`No test produced these ${unseen.length} of ${answers.length} answers:\n`)
  for (const answer of unseen) process.stdout.write(`  ${answer}\n`)
}
if (unrun.length === 0 && unseen.length === 0)
  process.stdout.write(
    `Every one of ${statements.length} statements ran, every one of ${answers.length} answers was seen.\n`,
  )
process.exitCode = unrun.length > 0 || unseen.length > 0 ? 1 : 0
