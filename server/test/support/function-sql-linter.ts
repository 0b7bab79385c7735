import { parsePlPgSQLSync } from 'libpg-query'
import { type TenancyRules, tenancyViolations } from './tenant-sql-linter.ts'
import { citusViolations } from './statements.ts'

/** The name under which every function of ours takes the organization, as its first argument. */
const organization = 'tenant_id'

type Node = Readonly<Record<string, unknown>>

/** Statements whose text is built at run time. */
const dynamic = /^PLpgSQL_stmt_(dynexecute|dynfors)$|^dynquery$/

function visit(value: unknown, see: (key: string, node: Node) => void): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) see(key, inner as Node)
    visit(inner, see)
  }
}

/** Returns a statement with the organization as its parameter. Expressions and assignments are wrapped in a SELECT. */
function statementOf({ query, parseMode }: { query: string; parseMode: number }): string {
  const text = parseMode === 0 ? query : `select ${parseMode === 2 ? query : query.replace(/^.*?:?=/s, '')}`
  return text.replaceAll(new RegExp(`\\b${organization}\\b`, 'g'), '$1')
}

const isOrganization = (value: unknown): boolean => JSON.stringify(value)?.includes(`"${organization}"`) ?? false

/** Why a PL/pgSQL function, given as `create function …`, could reach beyond its organization or not run on Citus. */
export function functionViolations(definition: string, rules: TenancyRules): string[] {
  const [parsed] = (parsePlPgSQLSync(definition) as unknown as { plpgsql_funcs: Node[] }).plpgsql_funcs
  const body = parsed!['PLpgSQL_function'] as { datums: Record<string, Node>[] }
  const found: string[] = []
  const first = body.datums[0]?.['PLpgSQL_var']
  if (first?.['refname'] !== organization) found.push(`its first argument is not ${organization}`)
  visit(body, (key, node) => {
    if (dynamic.test(key)) found.push('it runs text that the linter cannot see')
    // Variables are counted in the order of their declaration, and the organization comes first.
    const isAssigned = key === 'PLpgSQL_stmt_assign' && (node['varno'] ?? 0) === 0
    const isTarget = (key === 'target' || key === 'var') && isOrganization(node)
    if (isAssigned || isTarget) found.push(`it gives ${organization} another value`)
    if (key !== 'PLpgSQL_expr') return
    const text = statementOf(node as { query: string; parseMode: number })
    for (const violation of [...tenancyViolations(text, rules), ...citusViolations(text)])
      found.push(`${violation}\n${text}`)
  })
  return found
}
