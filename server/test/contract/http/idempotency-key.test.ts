import { expect, it } from 'vitest'
import { useApp } from '../../support/app.ts'
import type { Reply } from '../../support/client.ts'
import { expectApiError } from '../../support/error-response.ts'
import { naturalBase } from '../../support/natural-key.ts'

const context = useApp()

const headers = { 'idempotency-key': '"8e03978e-40d5-43e8-bc93-6894a57f9324"' }

it.each(['assets', 'locations'])('The Idempotency-Key header is ignored by POST /%s', async (kind) => {
  const client = (await context.app.newOrg()).full
  const create = (json: object): Promise<Reply> => client.send('POST', `/api/v1/${kind}`, { json, headers })
  const [first, second] = [await create({ name: 'a' }), await create({ name: 'a' })]
  expect([first.status, second.status]).toEqual([201, 201])
  expect(second.json.data.id).not.toBe(first.json.data.id)
  expect((await create({ name: 'a', external_key: 'K' })).status).toBe(201)
  expectApiError(await create({ name: 'a', external_key: 'K' }), 'conflict')
  expect((await client.get(`/api/v1/${kind}`)).json.total_count).toBe(3)
})

it('The Idempotency-Key header is ignored on the natural-key base: a retried POST without an identifier creates a second asset', async () => {
  const client = (await context.app.newOrg()).full
  const create = (json: object): Promise<Reply> => client.send('POST', `${naturalBase}/assets`, { json, headers })
  const [first, second] = [await create({ name: 'a' }), await create({ name: 'a' })]
  expect(second.json.data.identifier).not.toBe(first.json.data.identifier)
  expect((await create({ name: 'a', identifier: 'K' })).status).toBe(201)
  expectApiError(await create({ name: 'a', identifier: 'K' }), 'conflict')
})
