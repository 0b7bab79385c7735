import { expect, it } from 'vitest'
import { useApp } from '../../support/app.ts'

const context = useApp()

it('GET /orgs/me returns the organization, the scopes as minted and the client id of the credential', async () => {
  const org = await context.app.newOrg('Northwind')
  const client = org.client('assets:read', 'tracking:read')
  const pair = await client.mint()
  const token = await client.exchange(pair)
  const reply = await context.app.anonymous('GET', '/api/v1/orgs/me', { token })
  expect(reply.status).toBe(200)
  expect(reply.json).toEqual({
    data: { id: org.orgId, name: 'Northwind', scopes: ['assets:read', 'tracking:read'], api_key_id: pair.clientId },
  })
  const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
  expect(claims.sub).toBe(pair.clientId)
})
