/** Abuse by large records: imports with many tags, and large responses that are read slowly or asked for again and again. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createOrganization } from '../bench/seed.mjs'
import { call, exchangeTokens, get, keepInFlight, origin, pause, sendUnread, signIn } from './requests.mjs'

const importedTags = 1_600_000
const tagsPerRow = 100
const jobDeadlineMs = 180_000

export const largeCases = [
  {
    name: '2 imports with 1,600,000 tags each',
    async prepare({ service }) {
      const body = importOf(importedTags)
      return {
        imports: [
          await openLargeOrganization(service, 'Importer 1'),
          await openLargeOrganization(service, 'Importer 2'),
        ],
        body,
      }
    },
    run: ({ service, imports, body }) =>
      Promise.all(
        imports.map(async ({ token }) => {
          const options = { method: 'POST', headers: { 'Content-Type': 'application/x-ndjson' }, body }
          const { data } = JSON.parse(await call(service, '/bulk/assets?on_error=skip', token, options))
          const deadline = performance.now() + jobDeadlineMs
          for (let state = data.state; !['done', 'failed'].includes(state); await sleep(2_000)) {
            if (performance.now() > deadline) throw new Error(`the import is ${state}`)
            state = JSON.parse(await call(service, `/bulk/jobs/${data.id}`, token)).data.state
          }
        }),
      ),
  },
  {
    name: '24 exports and lists of assets with 64 KiB and 100 long tags that are not read',
    async prepare({ service }) {
      const large = await openLargeOrganization(service, 'Large assets')
      await service.withDatabase((client) => insertLargeAssets(client, large.orgId))
      return { large }
    },
    async run({ service, signal, sockets, large }) {
      for (let count = 0; count < 8; count++) {
        sendUnread(service.httpPort, get('/exports/assets.csv', large.session), sockets)
        sendUnread(service.httpPort, get('/bulk/assets', large.token), sockets)
        sendUnread(service.httpPort, get('/assets?limit=200', large.token), sockets)
      }
      await pause(signal)
    },
  },
  {
    name: '12 concurrent overviews of 20,000 locations with the longest names',
    async prepare({ service }) {
      const many = await openLargeOrganization(service, 'Many locations')
      await service.withDatabase((client) => client.query(longLocations(many.orgId)))
      return { many }
    },
    run: ({ service, signal, many }) =>
      keepInFlight(12, signal, () => call(service, '/overview', many.session, { signal })),
  },
]

/** Creates an organization. Its session is an admin's, its token that of an API key. */
async function openLargeOrganization(service, name) {
  const { orgId, credentials } = await createOrganization({ url: service.databaseUrl, name, assets: 1, credentials: 1 })
  const [token] = await exchangeTokens(origin(service), credentials)
  return { orgId, token, session: await signIn(service, name) }
}

/** Rows that have 64 MiB together. */
function importOf(tags) {
  const rows = []
  for (let row = 0; row < tags / tagsPerRow; row++) {
    const values = Array.from({ length: tagsPerRow }, (_, index) => (row * tagsPerRow + index).toString(36))
    rows.push(
      JSON.stringify({
        external_key: `T${row}`,
        name: 'T',
        tags: values.map((value) => ({ tag_type: 'rfid', value })),
      }),
    )
  }
  return rows.join('\n')
}

const firstId = 6_000_000_000_000

/** Inserts 400 assets. */
async function insertLargeAssets(client, orgId) {
  await client.query(`
    insert into assets (org_id, id, external_key, name, description, metadata, is_active, valid_from, created_at, updated_at,
      search_text)
    select ${orgId}, ${firstId} + n, 'LARGE-' || n, repeat('😀', 255), repeat('😀', 1024),
      json_build_object('text', repeat('x', 65000)), true, now() - interval '30 days', now(), now(), 'large'
    from generate_series(1, 400) n`)
  await client.query(`
    insert into tags (org_id, id, asset_id, tag_type, value, normalized_value, created_at)
    select ${orgId}, ${firstId} + n * 100 + t, ${firstId} + n, 'barcode', repeat('😀', 240) || n || '-' || t,
      repeat('😀', 240) || n || '-' || t, now()
    from generate_series(1, 400) n cross join generate_series(1, 100) t`)
}

const longLocations = (orgId) => `
  insert into locations (org_id, id, external_key, name, is_active, valid_from, created_at, updated_at, search_text)
  select ${orgId}, ${firstId} + n, repeat('😀', 245) || n, repeat('😀', 255), true, now() - interval '30 days', now(), now(), ''
  from generate_series(1, 20000) n`
