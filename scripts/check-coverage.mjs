/**
 * Fails when no test executed an SQL statement of the source, or when no test produced a status that the OpenAPI document
 * declares. Reads what the last test run recorded in server/.cache/coverage; changes nothing.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import ts from 'typescript'
import { root } from './bootstrap.mjs'

const server = process.argv[2] ?? join(root, 'server')

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'))

/** Everything that the test files recorded of one kind. */
function readRecorded(kind) {
  const folder = join(server, '.cache/coverage')
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith(`${kind}-`)) : []
  return new Set(names.flatMap((name) => readJson(join(folder, name))))
}

/** The name under which a file imports the template tag of db/sql.ts; null when it does not import it. */
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

/** Administrative statements (migrations, partitions, backups, locks) run on their own sessions, which tests do not record. */
const isAdministrative = (file) =>
  file.statements.some((node) => ts.isImportDeclaration(node) && /(^|\/)session\.ts$/.test(node.moduleSpecifier.text))

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
      const excerpt = parts.join(' … ').trim().split(/\s+/).slice(0, 12).join(' ')
      found.push({ template: parts.join('\u0000'), source: `${relative(server, path)}:${line}`, excerpt })
    }
    ts.forEachChild(node, visit)
  }
  if (tag !== null && !isAdministrative(file)) visit(file)
  return found
}

const sources = readdirSync(join(server, 'src'), { recursive: true }).filter((name) => name.endsWith('.ts'))
const statements = sources.sort().flatMap((name) => statementsIn(join(server, 'src', name)))

/** Every status that the OpenAPI document of a surface declares for an operation. */
function declaredStatuses(surface) {
  const { paths } = readJson(join(server, `openapi/${surface}.json`))
  return Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId, responses }) =>
      Object.keys(responses).map((status) => `${surface} ${operationId} ${status}`),
    ),
  )
}

/** The session API is described only for the types of the web app, and declares errors that no role can receive. */
const isPublished = (name) => name.endsWith('.json') && name !== 'web.json'
const documents = readdirSync(join(server, 'openapi')).filter(isPublished)
const statuses = documents.sort().flatMap((name) => declaredStatuses(basename(name, '.json')))

const executed = readRecorded('statements')
const produced = readRecorded('answers')
const missingStatements = statements.filter(({ template }) => !executed.has(template))
const missingStatuses = statuses.filter((status) => !produced.has(status))

if (missingStatements.length > 0) {
  process.stdout.write(`No test ran these ${missingStatements.length} of ${statements.length} statements:\n`)
  for (const { source, excerpt } of missingStatements) process.stdout.write(`  ${source}  ${excerpt}\n`)
}
if (missingStatuses.length > 0) {
  process.stdout.write(`No test produced these ${missingStatuses.length} of ${statuses.length} answers:\n`)
  for (const status of missingStatuses) process.stdout.write(`  ${status}\n`)
}
const isComplete = missingStatements.length === 0 && missingStatuses.length === 0
if (isComplete)
  process.stdout.write(
    `Every one of ${statements.length} statements ran, every one of ${statuses.length} answers was seen.\n`,
  )
process.exitCode = isComplete ? 0 : 1
