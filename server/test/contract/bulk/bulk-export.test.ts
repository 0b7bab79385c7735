import { beforeAll, describe, expect, it } from 'vitest'
import { request } from 'undici'
import { parseCsv } from '../../support/csv.ts'
import { expectApiError } from '../../support/error-response.ts'
import { create } from '../../support/master-data.ts'
import { Site, type SiteAsset, type SiteLocation, database, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

let site: Site
let [dock, hall] = [] as unknown as [SiteLocation, SiteLocation]
let pallet: SiteAsset
beforeAll(async () => {
  site = await Site.open(context.app, 'Dock', 'Hall')
  ;[dock, hall] = site.locations as [SiteLocation, SiteLocation]
  pallet = await site.createAsset('Pallet')
  await site.recordSighting(dock, [pallet], '2026-05-04T10:00:00Z')
  await site.recordSighting(hall, [pallet], '2026-05-04T10:10:30Z')
  await site.recordSighting(dock, [pallet], '2026-05-04T11:30:00Z')
})

type Query = Record<string, string>
// Tests read properties of rows without types.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
const parseLines = (text: string): any[] =>
  text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
const lines = async (path: string, query: Query = {}, api = site.api) => {
  const reply = await api.get(`/api/v1/bulk/${path}`, query)
  expect(reply.status, reply.text).toBe(200)
  return parseLines(reply.text)
}

describe('A bulk export', () => {
  it('is NDJSON by default, and CSV by format or by Accept; format wins', async () => {
    const get = (query: Query, accept?: string) =>
      site.api.send('GET', '/api/v1/bulk/assets', { query, headers: accept === undefined ? {} : { accept } })
    for (const [query, accept, type] of [
      [{}, undefined, 'application/x-ndjson'],
      [{}, '*/*', 'application/x-ndjson'],
      [{}, 'application/json', 'application/x-ndjson'],
      [{}, 'text/csv', 'text/csv; charset=utf-8'],
      [{}, 'application/x-ndjson, text/csv;q=0.5', 'application/x-ndjson'],
      [{ format: 'csv' }, 'application/x-ndjson', 'text/csv; charset=utf-8'],
      [{ format: 'ndjson' }, 'text/csv', 'application/x-ndjson'],
    ] as [Query, string | undefined, string][]) {
      const reply = await get(query, accept)
      expect([reply.status, reply.headers['content-type']], `${JSON.stringify(query)} ${accept}`).toEqual([200, type])
      expect(reply.headers['cache-control']).toBe('private, no-store')
      const disposition = type.startsWith('text/csv') ? 'attachment; filename="assets.csv"' : undefined
      expect(reply.headers['content-disposition']).toBe(disposition)
    }
    expectApiError(await get({ format: 'xml' }), 'validation_error', {
      fields: [{ field: 'format', code: 'invalid_value' }],
    })
  })

  it('answers HEAD without a body', async () => {
    const reply = await site.api.send('HEAD', '/api/v1/bulk/assets')
    expect([reply.status, reply.text]).toEqual([200, ''])
  })

  it.each([
    ['assets', 'assets:read'],
    ['locations', 'locations:read'],
    ['history', 'tracking:read'],
    ['moves', 'tracking:read'],
  ])('of %s needs %s, takes one token, and rejects unknown parameters, on both bases', async (name, scope) => {
    for (const base of ['/api/v1', '/natural/api/v1']) {
      const reply = await site.org.client(scope).get(`${base}/bulk/${name}`)
      expect([reply.status, reply.headers['x-ratelimit-remaining']]).toEqual([200, '119'])
      expectApiError(await site.org.client('assets:write').get(`${base}/bulk/${name}`), 'forbidden', {
        detail: `Missing required scope: ${scope}`,
      })
      expectApiError(await site.org.client(scope).get(`${base}/bulk/${name}`, { q: 'x' }), 'validation_error', {
        fields: [{ field: 'q', code: 'unknown_field' }],
      })
    }
  })

  it.each([['history'], ['moves']])('of %s rejects a time that is not RFC 3339', async (name) => {
    expectApiError(await site.api.get(`/api/v1/bulk/${name}`, { from: 'yesterday' }), 'validation_error', {
      fields: [{ field: 'from', code: 'invalid_value' }],
    })
  })
})

describe('GET /bulk/assets', () => {
  it('has every live asset as the API shows it, also outside its validity', async () => {
    const org = await context.app.newOrg()
    const api = org.full
    const made = await create(api, 'assets', {
      external_key: 'A',
      name: 'a',
      metadata: { k: [1] },
      valid_from: '2020-01-01T00:00:00Z',
      valid_to: '2021-01-01T00:00:00Z',
      tags: [{ tag_type: 'rfid', value: 'E1' }],
    })
    const gone = await create(api, 'assets', { external_key: 'B', name: 'b' })
    await api.delete(`/api/v1/assets/${gone.id}`)
    const { deleted_at: _deleted, ...shown } = made as { deleted_at: null }
    expect(await lines('assets', {}, api)).toEqual([shown])
  })

  it('equals the CSV file of the web app', async () => {
    const { accessToken } = await site.org.signIn('viewer')
    for (const kind of ['assets', 'locations', 'history']) {
      const web = await context.app.anonymous('GET', `/api/v1/exports/${kind}.csv`, { token: accessToken })
      expect((await site.api.get(`/api/v1/bulk/${kind}`, { format: 'csv' })).text).toBe(web.text)
    }
  })

  it('is one snapshot: changes during the download are not seen', async () => {
    const org = await context.app.newOrg()
    await database(context.app)`
      insert into assets (org_id, id, external_key, name, metadata, is_active, valid_from, created_at, updated_at, search_text)
      select ${org.orgId}, n, 'K' || n, repeat('x', 255), ('{"n":"' || repeat('y', 4000) || '"}')::json, true, now(), now(), now(), ''
      from generate_series(1, 5000) n`
    const token = await org.full.token()
    const { body } = await request(`${context.app.url}/api/v1/bulk/assets`, {
      headers: { authorization: `Bearer ${token}`, 'user-agent': 'lastseen-tests' },
    })
    let text = ''
    let isChanged = false
    for await (const chunk of body.setEncoding('utf8') as AsyncIterable<string>) {
      text += chunk
      if (isChanged) continue
      isChanged = true
      await database(context.app)`update assets set name = 'changed' where org_id = ${org.orgId}`
      await database(context.app)`delete from assets where org_id = ${org.orgId} and id % 2 = 0`
    }
    const rows = parseLines(text)
    expect(rows).toHaveLength(5000)
    expect(rows.filter((row) => row.name === 'changed')).toEqual([])
  })

  it('breaks the connection when it fails midway, so that no client mistakes a part for the whole', async () => {
    const org = await context.app.newOrg()
    await database(context.app)`
      insert into assets (org_id, id, external_key, name, metadata, is_active, valid_from, created_at, updated_at, search_text)
      select ${org.orgId}, n, 'K' || n, repeat('x', 255), ('{"n":"' || repeat('y', 4000) || '"}')::json, true, now(), now(), now(), ''
      from generate_series(1, 5000) n`
    const token = await org.full.token()
    const { body } = await request(`${context.app.url}/api/v1/bulk/assets`, {
      headers: { authorization: `Bearer ${token}`, 'user-agent': 'lastseen-tests' },
    })
    const read = async (): Promise<void> => {
      let isKilled = false
      for await (const _chunk of body) {
        if (isKilled) continue
        // No backend matches while the export's one runs a statement.
        const killed = await database(context.app)`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and state = 'idle in transaction' and pid <> pg_backend_pid()`
        isKilled = killed.length > 0
      }
    }
    await expect(read()).rejects.toThrow()
  })
})

describe('GET /bulk/locations', () => {
  it('has the id and the key of each parent', async () => {
    const org = await context.app.newOrg()
    const root = await create(org.full, 'locations', { external_key: 'H', name: 'h' })
    await create(org.full, 'locations', { external_key: 'S', name: 's', parent_external_key: 'H' })
    const rows = await lines('locations', {}, org.full)
    const parents = rows.map((row) => [row.external_key, row.parent_id, row.parent_external_key])
    expect(parents.sort()).toEqual([
      ['H', null, null],
      ['S', (root as { id: number }).id, 'H'],
    ])
  })
})

describe('GET /bulk/history', () => {
  it('has one row per recorded minute between two inclusive instants; durations include the time before [D28]', async () => {
    const row = (event_observed_at: string, key: string, name: string, duration_seconds: number | null) => ({
      ...{ asset_id: pallet.id, asset_external_key: 'PALLET', asset_name: 'Pallet', event_observed_at },
      ...{ location_external_key: key, location_name: name, duration_seconds },
    })
    const all = [
      row('2026-05-04T10:00:00.000Z', 'DOCK', 'Dock', null),
      row('2026-05-04T10:10:30.000Z', 'HALL', 'Hall', 630),
      row('2026-05-04T11:30:00.000Z', 'DOCK', 'Dock', 4770),
    ]
    expect(await lines('history')).toEqual(all)
    expect(await lines('history', { from: '2026-05-04T10:10:30Z', to: '2026-05-04T11:29:59Z' })).toEqual([all[1]])
  })
})

describe('GET /bulk/moves', () => {
  it('has every move between two inclusive instants, oldest first, as the webhook shows it', async () => {
    const all = await lines('moves')
    expect(all.map((move) => [move.occurred_at, move.from_location?.name ?? null, move.to_location.name])).toEqual([
      ['2026-05-04T10:00:00.000Z', null, 'Dock'],
      ['2026-05-04T10:10:30.000Z', 'Dock', 'Hall'],
      ['2026-05-04T11:30:00.000Z', 'Hall', 'Dock'],
    ])
    expect(all[1]).toEqual({
      delivery_id: expect.stringMatching(/^[\da-f-]{36}$/),
      occurred_at: '2026-05-04T10:10:30.000Z',
      asset: { id: pallet.id, external_key: 'PALLET', name: 'Pallet' },
      from_location: { id: dock.id, name: 'Dock' },
      to_location: { id: hall.id, name: 'Hall' },
    })
    expect(await lines('moves', { from: '2026-05-04T10:10:30Z', to: '2026-05-04T11:00:00Z' })).toEqual([all[1]])
    const [head, first] = parseCsv((await site.api.get('/api/v1/bulk/moves', { format: 'csv' })).text)
    expect(head).toEqual([
      ...['delivery_id', 'occurred_at', 'asset_external_key', 'asset_name', 'from_location_id', 'from_location_name'],
      ...['to_location_id', 'to_location_name'],
    ])
    expect(first!.slice(1)).toEqual([
      ...['2026-05-04T10:00:00.000Z', 'PALLET', 'Pallet', '', '', String(dock.id), 'Dock'],
    ])
  })

  it('has every move once, over many batches', async () => {
    const org = await context.app.newOrg()
    await database(context.app)`
      insert into moves (org_id, delivery_id, asset_id, asset_external_key, asset_name, to_location_id, to_location_name,
        occurred_at, recorded_at)
      select ${org.orgId}, gen_random_uuid(), 1, 'A', 'a', 2, 'l', '2026-05-04T10:00:00Z'::timestamptz + (n / 7) * interval '1 second', now()
      from generate_series(1, 1001) n`
    const ids = (await lines('moves', {}, org.full)).map((move) => move.delivery_id)
    expect([ids.length, new Set(ids).size]).toEqual([1001, 1001])
  })
})
