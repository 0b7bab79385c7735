import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { type Sql, render } from '../../src/db/sql.ts'
import { fenceViolations, loadFence } from './fence.ts'

export const evidenceFolder = fileURLToPath(new URL('../../.cache/evidence', import.meta.url))

/** The literal parts of a template: the same in the source and at run time. */
export const templatePrint = (strings: readonly string[]): string => strings.join('\u0000')

/**
 * Holds every statement a test makes the service run against the tenancy fence, and remembers which templates of the
 * source were among them, so that a later check can name the ones no test ever ran.
 */
export async function watchStatements(url: string) {
  await loadFence()
  const admin = postgres(url, { max: 1, onnotice: () => undefined })
  const rows = await admin<
    { tablename: string }[]
  >`select distinct tablename from pg_policies where schemaname = 'public'`
  await admin.end({ timeout: 5 })
  const rules = { tenantTables: new Set(rows.map((row) => row.tablename)) }
  const checked = new Set<string>()
  const templates = new Set<string>()
  const violations: string[] = []
  return {
    violations,
    onStatement(statement: Sql): void {
      const text = render(statement).text
      if (checked.has(text)) return
      checked.add(text)
      for (const template of statement.templates) templates.add(templatePrint(template))
      violations.push(...fenceViolations(text, rules).map((violation) => `${violation}\n${text}`))
    },
    save(): void {
      mkdirSync(evidenceFolder, { recursive: true })
      const name = `statements-${process.pid}-${Math.random().toString(36).slice(2)}.json`
      writeFileSync(join(evidenceFolder, name), JSON.stringify([...templates]))
    },
  }
}
