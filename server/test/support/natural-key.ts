import { expect } from 'vitest'
import type { Client, Reply } from './client.ts'

export const naturalBase = '/natural/api/v1'

/** The path of a record or of a subresource. */
export const naturalPath = (kind: 'assets' | 'locations', identifier: string, more = ''): string =>
  `${naturalBase}/${kind}/${encodeURIComponent(identifier)}${more}`

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

/** The fields that assets and locations have in common. */
export type NaturalRecord = Omit<NaturalAsset, 'type' | 'current_location' | 'metadata'>

export interface NaturalLocation extends NaturalRecord {
  parent_identifier?: string
  parent?: string
  path: string
  depth: number
}

/** Creates an asset and expects 201. */
export async function createNaturalAsset(client: Client, body: object): Promise<NaturalAsset> {
  const reply = await client.post(`${naturalBase}/assets`, body)
  expect(reply.status, reply.text).toBe(201)
  return reply.json.data
}

export async function createNaturalLocation(
  client: Client,
  identifier: string,
  more: object = {},
): Promise<NaturalLocation> {
  const reply = await client.post(`${naturalBase}/locations`, { identifier, name: identifier, ...more })
  expect(reply.status, reply.text).toBe(201)
  return reply.json.data
}

export const identifiersOf = (reply: Reply): string[] => {
  expect(reply.status, reply.text).toBe(200)
  return (reply.json.data as NaturalAsset[]).map((one) => one.identifier)
}
