import { expect, it } from 'vitest'
import { createReader } from '../../../src/readers/commands.ts'
import { useApp } from '../../support/app.ts'

const context = useApp()

it('turns reads into history, report and moves', async () => {
  const org = await context.app.newOrg()
  const api = org.full
  const dock = (await api.post('/api/v1/locations', { name: 'Dock', external_key: 'DOCK' })).json.data
  const hall = (await api.post('/api/v1/locations', { name: 'Hall', external_key: 'HALL' })).json.data
  const asset = (
    await api.post('/api/v1/assets', {
      name: 'Pallet',
      tags: [{ tag_type: 'rfid', value: 'E28011700000020A1B2C3D4E' }],
    })
  ).json.data
  const { reader, token } = await createReader(context.app.core, org.orgId, {
    name: 'R1',
    format: 'auto',
    clock: 'reader',
    scanPoints: [
      { antenna: 1, locationId: dock.id },
      { antenna: 2, locationId: hall.id },
    ],
  })
  expect(reader.scanPoints).toHaveLength(2)
  const now = Date.now()
  const at = (minutes: number) => new Date(now - minutes * 60_000).toISOString()
  const send = (reads: object[]) => context.app.anonymous('POST', '/ingest/v1/reads', { token, json: { reads } })
  const tag = 'E28011700000020A1B2C3D4E'
  let reply = await send([
    { tag, antenna: 1, observed_at: at(10) },
    { tag, antenna: 2, observed_at: at(5) },
    { tag: 'ABCDEF0123456789', antenna: 1 },
  ])
  expect(reply.status).toBe(202)
  expect(reply.json).toEqual({ data: { accepted: 2, ignored: 1 } })
  const history = await api.get(`/api/v1/assets/${asset.id}/history`)
  expect(history.json).toMatchObject({
    total_count: 2,
    data: [
      { location_external_key: 'HALL', duration_seconds: 300 },
      { location_external_key: 'DOCK', duration_seconds: null },
    ],
  })
  const report = await api.get('/api/v1/reports/asset-locations')
  expect(report.json).toMatchObject({ total_count: 1, data: [{ asset_id: asset.id, location_id: hall.id }] })
  reply = await send([{ tag, antenna: 1, observed_at: at(10) }])
  expect((await api.get(`/api/v1/assets/${asset.id}/history`)).json.total_count).toBe(2)
  const then = await api.get('/api/v1/reports/asset-locations', { at: at(7) })
  expect(then.json.data[0].location_external_key).toBe('DOCK')
  expect(
    (await api.get('/api/v1/reports/asset-locations', { location_external_key: 'HALL', q: 'pall' })).json.total_count,
  ).toBe(1)
  const traffic = await api.get(`/api/v1/locations/${hall.id}/history`)
  expect(traffic.json.data).toMatchObject([{ event: 'arrival', asset_id: asset.id, other_location_id: dock.id }])
})
