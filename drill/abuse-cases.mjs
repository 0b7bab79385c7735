/**
 * Abuse by requests. A case runs until its signal is aborted. `prepare` sets it up before the neighbour starts; `run` gets
 * what it returns.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { call, json, keepInFlight, otherOrganizations } from './requests.mjs'

export const requestCases = [
  {
    name: '500 concurrent sign-ups',
    run: ({ service, signal }) =>
      keepInFlight(500, signal, (index) => {
        const email = `${index}-${Math.random()}@drill.example`
        const body = { email, password: 'a long enough passphrase', organization_name: 'Abuse' }
        return call(service, '/auth/signup', null, { ...json(body), signal })
      }),
  },
  {
    name: '24 concurrent reports of the past',
    run: ({ service, signal, tokens }) =>
      keepInFlight(24, signal, (index) => {
        const at = new Date(Date.now() - (1 + Math.random() * 200) * 86_400_000).toISOString()
        return call(service, `/reports/asset-locations?at=${at}`, tokens[index], { signal })
      }),
  },
  {
    name: '24 concurrent dwell reports',
    run: ({ service, signal, session }) =>
      keepInFlight(24, signal, () => {
        const from = new Date(Date.now() - 300 * 86_400_000).toISOString()
        return call(service, `/reports/dwell?from=${from}`, session, { signal })
      }),
  },
  {
    name: '24 concurrent checks of imports',
    async prepare({ service, session }) {
      const rows = Array.from({ length: 4_000 }, (_, index) => ({
        line: index + 2,
        external_key: `I-${index}`,
        name: 'Row',
      }))
      return { importIds: await createImports(service, session, rows, 16) }
    },
    run: ({ service, signal, session, importIds }) =>
      keepInFlight(24, signal, (index) =>
        call(service, `/imports/${importIds[index % importIds.length]}/check`, session, { ...json({}), signal }),
      ),
  },
  {
    name: '24 concurrent lists, sorted by name and time of creation',
    run: ({ service, signal, tokens }) =>
      keepInFlight(24, signal, (index) =>
        call(service, '/assets?limit=200&sort=name,created_at', tokens[index], { signal }),
      ),
  },
  {
    name: '4 uploads of imports with rows of 60 KiB',
    async prepare({ service, session }) {
      const description = 'x'.repeat(60 * 1024)
      const rows = Array.from({ length: 15 }, (_, index) => ({
        line: index + 2,
        external_key: `L-${index}`,
        description,
      }))
      return { rows, importIds: await createImports(service, session, rows, 4) }
    },
    async run({ service, signal, session, rows, importIds }) {
      const upload = async (id) => {
        // With the rows of the preparation, these are less than the 64 MiB that an import may have.
        for (let count = 0; count < 60 && !signal.aborted; count++)
          await call(service, `/imports/${id}/rows`, session, { ...json({ rows }), signal }).catch((error) => {
            if (!signal.aborted) throw error
          })
      }
      await Promise.all(importIds.map(upload))
      await keepInFlight(4, signal, (index) =>
        call(service, `/imports/${importIds[index]}/check`, session, { ...json({}), signal }),
      )
    },
  },
  {
    name: '16 concurrent lists, sorted by path, of a tree with 64 levels',
    prepare: ({ service, orgId }) => service.withDatabase((client) => client.query(deepTree(orgId))).then(() => ({})),
    run: ({ service, signal, tokens }) =>
      keepInFlight(16, signal, (index) =>
        call(service, '/natural/api/v1/locations?sort=-path', tokens[index], { signal }),
      ),
  },
  {
    name: '30 creates that wait for a lock',
    run: ({ service, signal, tokens, orgId }) =>
      service.withDatabase(async (client) => {
        await client.query('begin')
        await client.query('select 1 from record_counts where org_id = $1 for update', [orgId])
        await keepInFlight(30, signal, (index) =>
          call(service, '/assets', tokens[index], { ...json({ name: 'Waits' }), signal }),
        )
        await client.query('rollback')
      }),
  },
  {
    name: '72 creates, of eight organizations, that wait for a lock',
    prepare: async ({ service }) => ({ others: await otherOrganizations(service, 8) }),
    run: ({ service, signal, others }) =>
      service.withDatabase(async (client) => {
        await client.query('begin')
        await client.query('lock table assets in share mode')
        await keepInFlight(72, signal, (index) =>
          call(service, '/assets', others[index % others.length], { ...json({ name: 'Waits' }), signal }),
        )
        await client.query('rollback')
      }),
  },
  {
    name: '24 clients whose log lines do not fit on the disk',
    obstacle: ({ logDisk }) => (logDisk.isOnOwnDisk ? undefined : 'cannot mount a file system'),
    async run({ service, signal, logDisk }) {
      const url = `http://127.0.0.1:${service.serverPort}/${'x'.repeat(4_000)}`
      let sent = 0
      const send = async () => {
        await (await fetch(url)).arrayBuffer()
        sent++
      }
      service.clearLog()
      logDisk.fill()
      try {
        // A line has 1 KiB; the server keeps 1 MiB of lines that it cannot write.
        await keepInFlight(
          24,
          {
            get aborted() {
              return signal.aborted && sent > 3_000
            },
          },
          send,
        )
      } finally {
        logDisk.free()
      }
      for (let waitedMs = 0; !service.readLog().includes('log.lost'); waitedMs += 100) {
        if (waitedMs > 20_000) throw new Error('the lost lines were not logged')
        await sleep(100)
      }
    },
  },
]

async function createImports(service, session, rows, count) {
  const ids = []
  for (let index = 0; index < count; index++) {
    const { data } = JSON.parse(await call(service, '/imports', session, json({ kind: 'assets' })))
    await call(service, `/imports/${data.id}/rows`, session, json({ rows }))
    ids.push(data.id)
  }
  return ids
}

/** Inserts 200 chains of 64 nested locations. */
const deepTree = (orgId) => `
  insert into locations (org_id, id, parent_id, external_key, name, is_active, valid_from, created_at, updated_at, search_text)
  select ${orgId}, 5000000000000 + chain * 100 + level, case when level > 1 then 5000000000000 + chain * 100 + level - 1 end,
    'DEEP-' || chain || '-' || level, 'Deep', true, now() - interval '30 days', now(), now(), 'deep'
  from generate_series(1, 200) chain cross join generate_series(1, 64) level`
