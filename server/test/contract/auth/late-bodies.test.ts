import { afterEach, describe, expect, it } from 'vitest'
import { deleteOrg } from '../../../src/cli/organization-data.ts'
import { createSignedInUser, requestAs } from '../../support/accounts.ts'
import { useSecondApp } from '../../support/app.ts'
import { endings } from '../../support/endings.ts'
import { RawConnection } from '../../support/raw-http.ts'
import { Site, database, useTracking } from '../../support/tracking.ts'

const singleServerReason = 'the test starts a second server itself'
const context = useTracking('2026-05-04T12:00:00Z', { singleServerReason })
const second = useSecondApp(context, { isOneOfSeveral: true, clock: context.clock })
const open: RawConnection[] = []
afterEach(() => {
  for (const connection of open.splice(0)) connection.close()
})

/** Sends a request without the last byte of its body in each process; returns what sends it and returns the statuses. */
async function begin(path: string, token: string, json: object): Promise<() => Promise<(number | undefined)[]>> {
  const body = JSON.stringify(json)
  const head = ['Host: a', 'User-Agent: a', `Authorization: Bearer ${token}`, 'Content-Type: application/json']
  const lines = [`POST ${path} HTTP/1.1`, ...head, `Content-Length: ${body.length}`, 'Expect: 100-continue']
  const connections = await Promise.all([context.app, second.app].map((app) => RawConnection.open(app.url)))
  open.push(...connections)
  for (const connection of connections) {
    connection.request(lines)
    // The server asks for the body once it has authenticated the request.
    expect(await connection.readInterimResponse()).toBe(100)
    connection.write(body.slice(0, -1))
  }
  return async () => {
    for (const connection of connections) connection.write(body.slice(-1))
    const replies = await Promise.all(connections.map((connection) => connection.readResponse()))
    return replies.map((reply) => reply?.status)
  }
}

const countMinutes = async (): Promise<number> => {
  const [row] = await database(context.app)`select count(*)::int as minutes from asset_minutes`
  return row!['minutes']
}

describe('A request whose body is complete only after its token became invalid is rejected in every process', () => {
  it.each(endings)('when %s: an inventory save [D40]', async (_why, beginEnding) => {
    const site = await Site.open(context.app, 'Dock')
    await site.createAsset('Case')
    const { token, end } = await beginEnding(site.org, context.clock)
    const json = { location_identifier: 'DOCK', asset_identifiers: ['CASE'] }
    const finish = await begin('/api/v1/inventory/save', token, json)
    const before = await countMinutes()
    await end()
    expect(await finish()).toEqual([401, 401])
    expect(await countMinutes()).toBe(before)
  })

  it.each([
    ['is deleted', (site: Site) => asAdmin(site, 'DELETE', `/readers/${site.readerId}`)],
    ['gets another token', (site: Site) => asAdmin(site, 'POST', `/readers/${site.readerId}/token`)],
    [
      'belongs to an organization that is deleted',
      ({ org }: Site) => deleteOrg(org.app.context, { org: String(org.orgId), confirm: org.name }),
    ],
  ])('when the reader %s: its message', async (_why, end) => {
    const site = await Site.open(context.app, 'Dock')
    const { tag } = await site.createAsset('Case')
    const finish = await begin('/ingest/v1/reads', site.token, { reads: [{ tag, antenna: 1 }] })
    const before = await countMinutes()
    await end(site)
    expect(await finish()).toEqual([401, 401])
    expect(await countMinutes()).toBe(before)
  })
})

const asAdmin = async ({ app, org }: Site, method: string, path: string): Promise<unknown> =>
  requestAs(app, await createSignedInUser(org, 'admin'), method, path)
