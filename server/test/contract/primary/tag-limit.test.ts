import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../support/app.ts'
import type { Reply } from '../../support/client.ts'
import { expectErrorStatus, expectNoChange, expectValidationError, useDatabase } from '../../support/master-data.ts'
import { naturalBase, naturalPath } from '../../support/natural-key.ts'

const context = useApp()
const database = useDatabase(context)
const maxTags = 100

let org: TestOrg
beforeAll(async () => {
  org = await context.app.newOrg()
})

type Kind = 'assets' | 'locations'

let made = 0
const newValues = (count: number): string[] => Array.from({ length: count }, () => `limit-${++made}`)

/** How the two public APIs name a record and its tags. */
const surfaces = [
  {
    name: 'the API with ids',
    field: 'tags',
    path: (kind: Kind) => `/api/v1/${kind}`,
    body: (count: number) => ({ name: 'a', tags: newValues(count).map((value) => ({ tag_type: 'rfid', value })) }),
    recordPath: (kind: Kind, { id }: { id: number }) => `/api/v1/${kind}/${id}`,
  },
  {
    name: 'the API with natural keys',
    field: 'identifiers',
    path: (kind: Kind) => `${naturalBase}/${kind}`,
    body: (count: number) => ({
      ...{ identifier: `record-${++made}`, name: 'a' },
      identifiers: newValues(count).map((value) => ({ type: 'rfid', value })),
    }),
    recordPath: (kind: Kind, { identifier }: { identifier: string }) => naturalPath(kind, identifier),
  },
]

describe.each(surfaces)('In $name', ({ field, path, body, recordPath }) => {
  describe.each(['assets', 'locations'] as const)('%s', (kind) => {
    it('are created with 100 tags at most', async () => {
      const reply = await org.full.post(path(kind), body(maxTags))
      expect(reply.status, reply.text).toBe(201)
      expect(reply.json.data[field]).toHaveLength(maxTags)
      const refused = (): Promise<Reply> => org.full.post(path(kind), body(maxTags + 1))
      expectValidationError(await expectNoChange(database.sql, org, refused), [
        field,
        'too_long',
        { max_length: maxTags },
      ])
    })

    it('get 100 tags at most, one by one', async () => {
      const { data } = (await org.full.post(path(kind), body(maxTags - 1))).json
      const tags = `${recordPath(kind, data)}/${field}`
      const attach = (): Promise<Reply> =>
        org.full.post(tags, (body(1) as unknown as Record<string, unknown[]>)[field]![0])
      expect((await attach()).status).toBe(201)
      const refused = await expectNoChange(database.sql, org, attach)
      expectErrorStatus(refused, 409)
      expect(refused.json.error.detail).toContain('100 tags')
      const read = await org.full.get(recordPath(kind, data))
      expect(read.json.data[field]).toHaveLength(maxTags)
      expect((await org.full.delete(`${tags}/${read.json.data[field][0].id}`)).status).toBe(204)
      expect((await attach()).status).toBe(201)
    })
  })
})
