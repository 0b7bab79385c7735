import { expect } from 'vitest'
import type { Client, Reply } from './client.ts'

export const natural = '/natural/api/v1'

/** The address of a record, or of something below it. */
export const at = (kind: 'assets' | 'locations', identifier: string, more = ''): string =>
  `${natural}/${kind}/${encodeURIComponent(identifier)}${more}`

interface IdentifierJson {
  id: number
  type: string
  value: string
  is_active: boolean
}

export interface NaturalAsset {
  surrogate_id: number
  identifier: string
  name: string
  description?: string
  type: string
  current_location?: string
  is_active: boolean
  metadata: Record<string, unknown>
  valid_from: string
  valid_to: string | null
  identifiers: IdentifierJson[]
  created_at: string
  updated_at: string
}

/** What assets and locations show alike. */
export type NaturalRecord = Omit<NaturalAsset, 'type' | 'current_location' | 'metadata'>

export interface NaturalLocation extends NaturalRecord {
  parent_identifier?: string
  parent?: string
  path: string
  depth: number
}

/** Makes what the test takes for granted. */
export async function makeAsset(client: Client, body: object): Promise<NaturalAsset> {
  const reply = await client.post(`${natural}/assets`, body)
  expect(reply.status, reply.text).toBe(201)
  return reply.json.data
}

export async function makeLocation(client: Client, identifier: string, more: object = {}): Promise<NaturalLocation> {
  const reply = await client.post(`${natural}/locations`, { identifier, name: identifier, ...more })
  expect(reply.status, reply.text).toBe(201)
  return reply.json.data
}

export const identifiersOf = (reply: Reply): string[] => {
  expect(reply.status, reply.text).toBe(200)
  return (reply.json.data as NaturalAsset[]).map((one) => one.identifier)
}
