import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sql } from '../../src/db/sql.ts'
import { templateFingerprint } from '../support/statements.ts'

const script = fileURLToPath(new URL('../../../scripts/check-coverage.mjs', import.meta.url))

let folder: string

function write(path: string, content: unknown): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
}

function check(): { code: number | null; lines: string[] } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' })
  expect(stderr).toBe('')
  return { code: status, lines: stdout.trim().split('\n') }
}

const source = `
import { type Sql, sql } from '../db/sql.ts'
export const whole = sql\`select 1 -- \\\\d\`
export const parts = (id: number, more: Sql) => sql\`
  select \${id} from t where \${more} and \${sql\`inner = \${id}\`}\`
`
/** The same templates as the source above holds, as the tag receives them when they run. */
const ran = [
  sql`select 1 -- \\d`,
  sql`
  select ${1} from t where ${2} and ${sql`inner = ${1}`}`,
].flatMap((statement) => statement.templates.map(templateFingerprint))

const described = {
  paths: {
    '/a': { get: { operationId: 'a.list', responses: { 200: {}, 401: {} } } },
    '/b': { post: { operationId: 'b.create', responses: { 201: {} } } },
  },
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lastseen-coverage-'))
  write('src/things/things.sql.ts', source)
  write('openapi/primary.json', described)
  write('.cache/coverage/statements-1.json', ran)
  write('openapi/natural-key.json', { paths: { '/a': { get: { operationId: 'a.list', responses: { 200: {} } } } } })
  write('.cache/coverage/answers-1.json', ['primary a.list 200', 'primary a.list 401', 'natural-key a.list 200'])
  write('.cache/coverage/answers-2.json', ['primary b.create 201'])
})

afterEach(() => rmSync(folder, { recursive: true }))

describe('The coverage of a test run', () => {
  it('is complete when every statement ran and every answer was seen, by whichever files, and is left as it was', () => {
    const before = readdirSync(join(folder, '.cache/coverage'))
    expect(check()).toEqual({
      code: 0,
      lines: ['Every one of 3 statements ran, every one of 4 answers was seen.'],
    })
    expect(readdirSync(join(folder, '.cache/coverage'))).toEqual(before)
  })

  it('names a statement that no test ran, by its position and its first words', () => {
    write('.cache/coverage/statements-1.json', ran.slice(0, 1))
    const { code, lines } = check()
    expect(code).toBe(1)
    expect(lines).toEqual([
      'No test ran these 2 of 3 statements:',
      '  src/things/things.sql.ts:4  select … from t where … and …',
      '  src/things/things.sql.ts:5  inner = …',
    ])
  })

  it('names an answer that no test produced', () => {
    rmSync(join(folder, '.cache/coverage/answers-2.json'))
    expect(check()).toEqual({ code: 1, lines: ['No test produced these 1 of 4 answers:', '  primary b.create 201'] })
  })

  it('distinguishes APIs that have an operation of the same name', () => {
    write('.cache/coverage/answers-1.json', ['primary a.list 200', 'primary a.list 401'])
    expect(check()).toEqual({ code: 1, lines: ['No test produced these 1 of 4 answers:', '  natural-key a.list 200'] })
  })

  it('considers only the tag of db/sql.ts, under any imported name', () => {
    write('src/db/other.ts', 'import postgres from "postgres"\nconst sql = postgres()\nvoid sql`select from elsewhere`')
    expect(check().code).toBe(0)
    write('src/db/renamed.ts', 'import { sql as query } from "./sql.ts"\nexport const x = query`select from here`')
    expect(check().lines).toEqual(['No test ran these 1 of 4 statements:', '  src/db/renamed.ts:2  select from here'])
  })

  it('is missing altogether when no tests have run', () => {
    rmSync(join(folder, '.cache'), { recursive: true })
    const { lines } = check()
    expect(lines).toContain('No test ran these 3 of 3 statements:')
    expect(lines).toContain('No test produced these 4 of 4 answers:')
  })
})
