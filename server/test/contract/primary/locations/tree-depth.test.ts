import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../../support/app.ts'
import type { Client, Reply } from '../../../support/client.ts'
import { expectApiError } from '../../../support/error-response.ts'
import {
  type LocationJson,
  expectNoChange,
  create,
  expectValidationError,
  useDatabase,
} from '../../../support/master-data.ts'
import { naturalPath, naturalBase } from '../../../support/natural-key.ts'

const context = useApp()
const database = useDatabase(context)
const path = '/api/v1/locations'
const tooDeep = { detail: 'A tree of locations has at most 64 levels' }

let org: TestOrg
let client: Client
/** A chain of 64 locations, the root first. */
let chain: LocationJson[]
let other: LocationJson[]

async function chainOf(levels: number, key: string): Promise<LocationJson[]> {
  const links: LocationJson[] = []
  for (let level = 1; level <= levels; level++) {
    const parent = links.at(-1)
    const body = {
      name: 'x',
      external_key: `${key}-${level}`,
      ...(parent === undefined ? {} : { parent_id: parent.id }),
    }
    links.push(await create(client, 'locations', body))
  }
  return links
}

beforeAll(async () => {
  org = await context.app.newOrg()
  client = org.full
  chain = await chainOf(64, 'CHAIN')
  other = await chainOf(3, 'OTHER')
})

const rejected = async (act: () => Promise<Reply>): Promise<void> =>
  expectApiError(await expectNoChange(database.sql, org, act), 'conflict', tooDeep)

describe('A tree of locations', () => {
  it('is 64 levels deep at most: a create below the last level is 409, by id and by key [D52]', async () => {
    const last = chain.at(-1)!
    await rejected(() => client.post(path, { name: 'x', parent_id: last.id }))
    await rejected(() => client.post(path, { name: 'x', parent_external_key: last.external_key }))
    await rejected(() =>
      client.post(`${naturalBase}/locations`, { identifier: 'N', name: 'x', parent_identifier: 'CHAIN-64' }),
    )
  })

  it('accepts any number of siblings on its last level [D52]', async () => {
    const made = await create(client, 'locations', { name: 'x', parent_id: chain[62]!.id })
    expect(made.parent_external_key).toBe('CHAIN-63')
  })

  it('is 64 levels deep at most: a move below the last level is 409, by id and by key [D52]', async () => {
    const leaf = await create(client, 'locations', { name: 'x', external_key: 'LEAF' })
    await rejected(() => client.patch(`${path}/${leaf.id}`, { parent_id: chain[63]!.id }))
    await rejected(() => client.patch(`${path}/${leaf.id}`, { parent_external_key: 'CHAIN-64' }))
    await rejected(() => client.put(naturalPath('locations', 'LEAF'), { parent_identifier: 'CHAIN-64' }))
    expect((await client.patch(`${path}/${leaf.id}`, { parent_id: chain[62]!.id })).status).toBe(200)
    expect((await client.patch(`${path}/${leaf.id}`, { parent_id: null })).status).toBe(200)
  })

  it('counts the deepest location of a subtree that moves, on both bases [D52]', async () => {
    const top = other[0]!
    for (const level of [62, 63, 64]) {
      await rejected(() => client.patch(`${path}/${top.id}`, { parent_id: chain[level - 1]!.id }))
      await rejected(() => client.put(naturalPath('locations', 'OTHER-1'), { parent_identifier: `CHAIN-${level}` }))
    }
    expect((await client.patch(`${path}/${top.id}`, { parent_id: chain[60]!.id })).status).toBe(200)
    expect((await client.put(naturalPath('locations', 'OTHER-1'), { parent_identifier: null })).status).toBe(200)
  })

  it('does not count deleted locations [D52]', async () => {
    const links = await chainOf(3, 'SHORTENED')
    expect((await client.delete(`${path}/${links[2]!.id}`)).status).toBe(204)
    expect((await client.patch(`${path}/${links[0]!.id}`, { parent_id: chain[61]!.id })).status).toBe(200)
  })

  it('may be changed on its last level in other fields, also with its current parent in the body [D52]', async () => {
    const last = chain.at(-1)!
    expect((await client.patch(`${path}/${last.id}`, { name: 'y', parent_id: last.parent_id })).status).toBe(200)
    expect((await client.post(`${path}/${last.id}/rename`, { external_key: 'CHAIN-64' })).status).toBe(200)
  })

  it('reports a parent that does not exist, and a cycle, before the depth (D6)', async () => {
    expectValidationError(await client.post(path, { name: 'x', parent_external_key: 'NOWHERE' }), [
      'parent_external_key',
      'fk_not_found',
    ])
    const reply = await client.patch(`${path}/${chain[0]!.id}`, { parent_id: chain[63]!.id })
    expectApiError(reply, 'conflict', { detail: 'A location cannot be placed inside itself or one of its descendants' })
  })
})
