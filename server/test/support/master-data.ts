import postgres from 'postgres'
import { afterAll, beforeAll, expect } from 'vitest'
import { type TestApp, TestOrg, startApp } from './app.ts'
import type { Client, Reply } from './client.ts'

export type Kind = 'assets' | 'locations'

export interface TagJson {
  id: number
  tag_type: string
  value: string
}

/** The fields that assets and locations have in common. */
export interface RecordJson {
  id: number
  external_key: string
  name: string
  description: string | null
  is_active: boolean
  valid_from: string
  valid_to: string | null
  created_at: string
  updated_at: string
  deleted_at: string | null
  tags: TagJson[]
}

export interface LocationJson extends RecordJson {
  parent_id: number | null
  parent_external_key: string | null
}

/** Creates a record and expects 201. */
export async function create(client: Client, kind: 'locations', body: object): Promise<LocationJson>
export async function create(client: Client, kind: Kind, body: object): Promise<RecordJson>
export async function create(client: Client, kind: Kind, body: object): Promise<RecordJson> {
  const reply = await client.post(`/api/v1/${kind}`, body)
  expect(reply.status, reply.text).toBe(201)
  return reply.json.data
}

/** Deletes a record and expects 204. */
export async function remove(client: Client, kind: Kind, id: number): Promise<void> {
  const reply = await client.delete(`/api/v1/${kind}/${id}`)
  expect(reply.status, reply.text).toBe(204)
}

export const keysOf = (reply: Reply): string[] => (reply.json.data as RecordJson[]).map((row) => row.external_key)

export const idsOf = (reply: Reply): number[] => (reply.json.data as RecordJson[]).map((row) => row.id)

export type TestSql = postgres.Sql<{ bigint: number }>

/** A superuser connection, for set-up that no API operation offers and for reading what was written. */
export function useDatabase(context: { readonly app: TestApp }): { readonly sql: TestSql } {
  const fixture: { sql: TestSql } = { sql: undefined as never }
  beforeAll(() => {
    const bigint = { to: 20, from: [20], parse: Number, serialize: String }
    fixture.sql = postgres(context.app.databaseUrl, { max: 2, onnotice: () => undefined, types: { bigint } })
  })
  afterAll(() => fixture.sql.end({ timeout: 5 }))
  return fixture
}

/** Starts a second server on the same database and returns a function that maps an organization to it. */
export function useSecondProcess(context: { readonly app: TestApp }): (org: TestOrg) => TestOrg {
  let second: TestApp
  beforeAll(async () => {
    second = await startApp({ sharesDatabaseWith: context.app })
  })
  afterAll(() => second.stop())
  return (org) => new TestOrg(second, org.orgId, org.name)
}

/** Every row of the organization's master data, as comparable text. */
async function masterData(sql: TestSql, orgId: number): Promise<string> {
  const [row] = await sql<{ all: string }[]>`
    select json_build_array(
      (select json_agg(r order by r.id) from assets r where r.org_id = ${orgId}),
      (select json_agg(r order by r.id) from locations r where r.org_id = ${orgId}),
      (select json_agg(r order by r.id) from tags r where r.org_id = ${orgId}),
      (select json_agg(r order by r.asset_id) from asset_positions r where r.org_id = ${orgId}),
      (select json_agg(r order by r.kind, r.shard) from record_counts r where r.org_id = ${orgId})
    )::text as all`
  return row!.all
}

/** Sends a request and expects that it changed no master data of the organization. */
export async function expectNoChange(sql: TestSql, org: TestOrg, act: () => Promise<Reply>): Promise<Reply> {
  const before = await masterData(sql, org.orgId)
  const reply = await act()
  expect(await masterData(sql, org.orgId)).toBe(before)
  return reply
}

/** One entry of `fields`; params are compared only if given. */
export type FieldError = readonly [field: string, code: string, params?: Record<string, string | number>]

interface Entry {
  field: string
  code: string
  message: string
  params?: Record<string, string | number>
}

/** Expects a validation error with exactly these entries in this order and a detail that mirrors the first entry. */
export function expectValidationError(reply: Reply, ...problems: readonly FieldError[]): void {
  expect(reply.status, reply.text).toBe(400)
  const { type, title, status, detail, fields } = reply.json.error
  expect({ type, title, status }).toEqual({ type: 'validation_error', title: 'Validation failed', status: 400 })
  const entries = fields as Entry[]
  const seen = entries.map((entry, index): FieldError =>
    problems[index]?.[2] === undefined ? [entry.field, entry.code] : [entry.field, entry.code, entry.params ?? {}],
  )
  expect(seen).toEqual(problems)
  for (const { message } of entries) expect(message).not.toBe('')
  const more = entries.length - 1
  expect(detail).toBe(entries[0]!.message + (more === 0 ? '' : ` (and ${more} more validation errors)`))
}

const titles = {
  400: ['bad_request', 'Bad request'],
  403: ['forbidden', 'Forbidden'],
  404: ['not_found', 'Not found'],
  409: ['conflict', 'Conflict'],
} as const

/** Expects the error type of this status, without `fields`. */
export function expectErrorStatus(reply: Reply, status: keyof typeof titles): void {
  expect(reply.status, reply.text).toBe(status)
  const [type, title] = titles[status]
  const { error } = reply.json
  expect({ type: error.type, title: error.title, status: error.status }).toEqual({ type, title, status })
  expect(error.fields).toBeUndefined()
}
