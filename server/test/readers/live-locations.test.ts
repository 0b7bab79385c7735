import { expect, it } from 'vitest'
import { liveLocations } from '../../src/readers/readers.sql.ts'
import { useApp } from '../support/app.ts'

const context = useApp()

it('finds locations of scan points by id and by key, without deleted ones and those of other organizations', async () => {
  const org = await context.app.newOrg()
  const api = org.full
  const dock = (await api.post('/api/v1/locations', { external_key: 'DOCK', name: 'Dock' })).json.data.id
  const gone = (await api.post('/api/v1/locations', { external_key: 'GONE', name: 'Gone' })).json.data.id
  await api.delete(`/api/v1/locations/${gone}`)
  const other = await context.app.newOrg()
  await other.full.post('/api/v1/locations', { external_key: 'THEIRS', name: 'Theirs' })
  const { read } = context.app.context.db
  const byKey = await liveLocations(read, org.orgId, { keys: ['DOCK', 'GONE', 'THEIRS', 'dock'] })
  expect([byKey.get('DOCK'), byKey.has('GONE'), byKey.has('THEIRS'), byKey.has('dock')]).toEqual([
    dock,
    false,
    false,
    false,
  ])
  const byId = await liveLocations(read, org.orgId, { ids: [dock, gone] })
  expect([byId.get(dock), byId.has(gone)]).toEqual([dock, false])
})
