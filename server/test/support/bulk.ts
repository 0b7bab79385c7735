import { expect } from 'vitest'
import type { Client, Reply, SendOptions } from './client.ts'

export interface JobJson {
  id: number
  kind: string
  state: string
  mode: string
  dry_run: boolean
  on_error: string
  rows: number
  done_rows: number
  created: number
  updated: number
  unchanged: number
  failed: number
  errors_total: number
  reason: string | null
  created_at: string
  finished_at: string | null
}

export const ndjson = (rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

interface BulkOptions {
  type?: string
  query?: Record<string, string | boolean>
  headers?: Record<string, string>
  base?: string
}

/** Sends a bulk request; the body is NDJSON unless `type` says otherwise. */
export function postBulk(
  client: Client,
  kind: string,
  body: string | Buffer | readonly unknown[],
  { type = 'application/x-ndjson', query = {}, headers = {}, base = '/api/v1' }: BulkOptions = {},
): Promise<Reply> {
  const raw = typeof body === 'string' || Buffer.isBuffer(body) ? body : ndjson(body)
  const options: SendOptions = { raw, query, headers: { 'content-type': type, ...headers } }
  return client.send('POST', `${base}/bulk/${kind}`, options)
}

export async function getJob(client: Client, id: number): Promise<JobJson> {
  const reply = await client.get(`/api/v1/bulk/jobs/${id}`)
  expect(reply.status, reply.text).toBe(200)
  return reply.json.data
}

/** Waits until the job has ended. */
export async function endOf(client: Client, id: number): Promise<JobJson> {
  await expect
    .poll(async () => (await getJob(client, id)).finished_at, { timeout: 60_000, interval: 30 })
    .not.toBe(null)
  return getJob(client, id)
}

/** Sends a bulk request and waits until its job has ended. */
export async function runBulk(...args: Parameters<typeof postBulk>): Promise<JobJson> {
  const reply = await postBulk(...args)
  expect(reply.status, reply.text).toBe(202)
  return endOf(args[0], reply.json.data.id)
}

export async function errorsOf(client: Client, id: number): Promise<[line: number, field: string, message: string][]> {
  const reply = await client.get(`/api/v1/bulk/jobs/${id}/errors`, { limit: 200 })
  expect(reply.status, reply.text).toBe(200)
  return reply.json.data.map((one: { line: number; field: string; message: string }) => [
    one.line,
    one.field,
    one.message,
  ])
}

export const counts = ({ created, updated, unchanged, failed }: JobJson): number[] => [
  created,
  updated,
  unchanged,
  failed,
]
