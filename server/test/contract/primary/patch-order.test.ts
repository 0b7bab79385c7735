import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../support/app.ts'
import type { Client } from '../../support/client.ts'
import { type Kind, type RecordJson, create, expectValidationError } from '../../support/master-data.ts'

const context = useApp()
const kinds: [Kind][] = [['assets'], ['locations']]

describe.each(kinds)('A PATCH of %s with a stale updated_at', (kind) => {
  let client: Client
  beforeAll(async () => {
    client = (await context.app.newOrg()).full
  })

  let made = 0
  const fresh = (): Promise<RecordJson> =>
    create(client, kind, { name: 'Cached', tags: [{ tag_type: 'barcode', value: `${kind} ${++made}` }] })
  const pathOf = (record: RecordJson): string => `/api/v1/${kind}/${record.id}`

  /** The record as a client read it before another client renamed it and attached a tag. */
  async function cached(): Promise<RecordJson> {
    const before = await fresh()
    const renamed = await client.post(`${pathOf(before)}/rename`, { external_key: `RENAMED-${before.id}` })
    const tagged = await client.post(`${pathOf(before)}/tags`, { tag_type: 'rfid', value: `T${before.id}` })
    expect([renamed.status, tagged.status]).toEqual([200, 201])
    return before
  }

  it('reports updated_at first for a whole cached body whose key and tags differ too [D7]', async () => {
    const before = await cached()
    expectValidationError(
      await client.patch(pathOf(before), before),
      ['updated_at', 'read_only'],
      ['external_key', 'invalid_context'],
      ['tags', 'invalid_context'],
    )
  })

  it('reports updated_at before all other server-managed fields, and these in the order of the table [D7]', async () => {
    const before = await cached()
    const body = { ...before, id: 7, created_at: null, deleted_at: before.created_at, external_key: 'x', tags: [] }
    expectValidationError(
      await client.patch(pathOf(before), body),
      ['updated_at', 'read_only'],
      ['id', 'read_only'],
      ['created_at', 'read_only'],
      ['deleted_at', 'read_only'],
      ['external_key', 'invalid_context'],
      ['tags', 'invalid_context'],
    )
  })

  const wrong: [string, object][] = [
    ['a name that is too short', { name: '' }],
    ['a null name', { name: null }],
    ['a value of the wrong type', { is_active: 'yes' }],
    ['an unknown key', { colour: 'red' }],
    ['a time that is none', { valid_from: 'today' }],
    ['a sentinel date', { valid_from: '1970-01-01T00:00:00Z' }],
    ['an empty window', { valid_from: '2026-01-01T00:00:00Z', valid_to: '2025-01-01T00:00:00Z' }],
    kind === 'assets' ? ['a location', { location_id: 7 }] : ['a parent that is not there', { parent_id: 7 }],
  ]
  it.each(wrong)('reports only updated_at before %s [D7]', async (_what, more) => {
    const before = await fresh()
    expect((await client.patch(pathOf(before), { name: 'Newer' })).status).toBe(200)
    const reply = await client.patch(pathOf(before), { ...more, updated_at: before.updated_at })
    expectValidationError(reply, ['updated_at', 'read_only'])
    expect((await client.get(pathOf(before))).json.data.name).toBe('Newer')
  })

  it('and other invalid fields reports those once updated_at is fresh [D7]', async () => {
    const before = await fresh()
    const sent = { name: '', updated_at: before.updated_at }
    expectValidationError(await client.patch(pathOf(before), sent), ['name', 'too_short'])
  })
})
