import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../../support/app.ts'
import type { Client, Reply } from '../../../support/client.ts'
import { expectNoChange, create, expectValidationError, useDatabase } from '../../../support/master-data.ts'
import { naturalPath, naturalBase } from '../../../support/natural-key.ts'

const context = useApp()
const database = useDatabase(context)
const maxBytes = 65_536
const maxMembers = 1000

let org: TestOrg
let client: Client
beforeAll(async () => {
  org = await context.app.newOrg()
  client = org.full
})

type Metadata = Record<string, unknown>

/** Metadata of exactly so many bytes of JSON. */
const ofBytes = (bytes: number, filler = 'x'): Metadata => {
  const rest = bytes - Buffer.byteLength('{"a":""}')
  return {
    a: filler.repeat(Math.floor(rest / Buffer.byteLength(filler))) + 'x'.repeat(rest % Buffer.byteLength(filler)),
  }
}

/** Metadata of exactly so many members, some of them on deeper levels and in lists. */
function ofMembers(count: number): Metadata {
  const flat = Object.fromEntries(Array.from({ length: count - 5 }, (_, index) => [`k${index}`, index]))
  return { ...flat, deep: { list: [{ one: 1 }, [{ two: 2 }]], none: null } }
}

const writes: [string, (metadata: Metadata) => Promise<Reply>][] = [
  ['POST', (metadata) => client.post('/api/v1/assets', { name: 'a', metadata })],
  [
    'PATCH',
    async (metadata) => {
      const { id } = await create(client, 'assets', { name: 'a' })
      return client.patch(`/api/v1/assets/${id}`, { metadata })
    },
  ],
  ['POST on the natural base', (metadata) => client.post(`${naturalBase}/assets`, { name: 'a', metadata })],
  [
    'PUT on the natural base',
    async (metadata) => {
      const { external_key: key } = await create(client, 'assets', { name: 'a' })
      return client.put(naturalPath('assets', key), { metadata })
    },
  ],
]

const isSmallEnough = (reply: Reply): void => expect([200, 201], reply.text.slice(0, 300)).toContain(reply.status)

describe.each(writes)('Metadata in a %s', (method, write) => {
  it('may be at most 64 KiB of JSON, counted in bytes [D52]', async () => {
    for (const filler of ['x', 'é', '😀']) {
      expect(Buffer.byteLength(JSON.stringify(ofBytes(maxBytes, filler)))).toBe(maxBytes)
      isSmallEnough(await write(ofBytes(maxBytes, filler)))
      expectValidationError(await write(ofBytes(maxBytes + 1, filler)), ['metadata', 'too_large', { max: maxBytes }])
    }
  })

  // A null in a PATCH removes a member, so there the last one counts as none.
  const most = method === 'PATCH' ? maxMembers + 1 : maxMembers

  it('may have at most 1,000 members over all levels [D52]', async () => {
    isSmallEnough(await write(ofMembers(most)))
    expectValidationError(await write(ofMembers(most + 1)), ['metadata', 'too_large', { max: maxMembers }])
  })
})

describe('Metadata that grows by PATCHes', () => {
  it('is checked after the merge, in bytes: a PATCH that exceeds the limit changes nothing [D52]', async () => {
    const { id } = await create(client, 'assets', { name: 'a', metadata: ofBytes(maxBytes - 11) })
    const patch = (metadata: unknown): Promise<Reply> => client.patch(`/api/v1/assets/${id}`, { metadata })
    isSmallEnough(await patch({ b: '1234' }))
    const reply = await expectNoChange(database.sql, org, () => patch({ c: '' }))
    expectValidationError(reply, ['metadata', 'too_large', { max: maxBytes }])
    isSmallEnough(await patch({ b: null, c: '12' }))
  })

  it('is checked after the merge, in members: a removed member frees capacity [D52]', async () => {
    const { id } = await create(client, 'assets', { name: 'a', metadata: ofMembers(maxMembers) })
    const patch = (metadata: unknown): Promise<Reply> => client.patch(`/api/v1/assets/${id}`, { metadata })
    const reply = await expectNoChange(database.sql, org, () => patch({ deep: { more: 1 } }))
    expectValidationError(reply, ['metadata', 'too_large', { max: maxMembers }])
    isSmallEnough(await patch({ k0: null, deep: { more: 1 } }))
    expectValidationError(await patch({ one_more: 1 }), ['metadata', 'too_large', { max: maxMembers }])
  })

  it('is not checked by a PATCH of other fields, so metadata stored before the limit existed stays valid', async () => {
    const { id } = await create(client, 'assets', { name: 'a' })
    const large = JSON.stringify(ofBytes(maxBytes + 5))
    await database.sql`update assets set metadata = ${large}::text::json where org_id = ${org.orgId} and id = ${id}`
    isSmallEnough(await client.patch(`/api/v1/assets/${id}`, { name: 'b' }))
  })
})
