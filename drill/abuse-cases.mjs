/** The kinds of abuse. Each runs until its signal is aborted, or until its requests have been sent. */
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createOrganization, tagsOf } from '../bench/seed.mjs'
import { exchangeToken } from './requests.mjs'

const { generate } = createRequire(new URL('../server/package.json', import.meta.url))('mqtt-packet')

export const abuseMs = 8_000

export const origin = ({ httpPort }) => `http://127.0.0.1:${httpPort}`
export const base = (service) => `${origin(service)}/api/v1`
const ignore = () => null

/** Sends a request and never reads the response. */
function sendUnread(port, text, sockets) {
  const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(text)).pause()
  socket.on('error', ignore)
  sockets.push(socket)
}

/** Keeps `count` requests in flight until the signal is aborted. */
const keepInFlight = (count, signal, request) =>
  Promise.all(
    Array.from({ length: count }, async (_, index) => {
      while (!signal.aborted)
        await request(index).catch((error) => {
          if (/answered with/.test(error.message)) throw error
          return sleep(50)
        })
    }),
  )

async function call(service, path, token, options = {}) {
  const headers = { ...(token && { Authorization: `Bearer ${token}` }), ...options.headers }
  const signal = AbortSignal.any([AbortSignal.timeout(30_000), ...(options.signal ? [options.signal] : [])])
  const prefix = path.startsWith('/natural/') ? origin(service) : base(service)
  const response = await fetch(prefix + path, { ...options, headers, signal })
  await response.arrayBuffer()
  // An invalid request would not load the server, so the case would prove nothing.
  if ([400, 401, 403, 404].includes(response.status)) throw new Error(`${path} was answered with ${response.status}`)
  return response.status
}

export const json = (body) => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
})

export const cases = [
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
        return call(service, `/reports/asset-locations?at=${at}`, tokens[index % tokens.length], { signal })
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
    name: '400 live streams that are not read',
    async run({ service, signal, tokens, reader, sockets }) {
      for (let count = 0; count < 400; count++) {
        const token = tokens[count % tokens.length]
        const text = `GET /api/v1/live HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`
        sendUnread(service.httpPort, text, sockets)
      }
      for (let message = 0; !signal.aborted; message++) {
        await sendReads(service, reader, movesOf(message), signal).catch(ignore)
        await sleep(100)
      }
    },
  },
  {
    name: '200 lists of large assets that are not read',
    async run({ service, signal, tokens, sockets }) {
      const metadata = { text: 'x'.repeat(65_000) }
      let created = 0
      await Promise.all(
        tokens.slice(0, 8).map(async (token) => {
          while (created < 200) await call(service, '/assets', token, json({ name: `Large ${created++}`, metadata }))
        }),
      )
      for (let count = 0; count < 200; count++) {
        const token = tokens[count % tokens.length]
        const path = '/api/v1/assets?limit=200&q=Large'
        sendUnread(
          service.httpPort,
          `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`,
          sockets,
        )
      }
      await sleep(abuseMs, null, { signal }).catch(ignore)
    },
  },
  {
    name: '24 concurrent checks of imports',
    async run({ service, signal, session }) {
      const rows = Array.from({ length: 4_000 }, (_, index) => ({
        line: index + 2,
        external_key: `I-${index}`,
        name: 'Row',
      }))
      const ids = []
      for (let count = 0; count < 20; count++) ids.push(await createImport(service, session, rows))
      await keepInFlight(24, signal, (index) =>
        call(service, `/imports/${ids[index % ids.length]}/check`, session, { ...json({}), signal }),
      )
    },
  },
  {
    name: '24 concurrent lists, sorted by name and time of creation',
    run: ({ service, signal, tokens }) =>
      keepInFlight(24, signal, (index) =>
        call(service, '/assets?limit=200&sort=name,created_at', tokens[index % tokens.length], { signal }),
      ),
  },
  {
    name: '4 uploads of imports with rows of 60 KiB',
    async run({ service, signal, session }) {
      const description = 'x'.repeat(60 * 1024)
      const rows = Array.from({ length: 15 }, (_, line) => ({ line, external_key: `L-${line}`, description }))
      const ids = []
      for (let count = 0; count < 4; count++) ids.push(await createImport(service, session, rows))
      const upload = async (id) => {
        for (let count = 0; count < 60 && !signal.aborted; count++)
          await call(service, `/imports/${id}/rows`, session, { ...json({ rows }), signal }).catch((error) => {
            if (!signal.aborted) throw error
          })
      }
      await Promise.all(ids.map(upload))
      await keepInFlight(4, signal, (index) =>
        call(service, `/imports/${ids[index]}/check`, session, { ...json({}), signal }),
      )
    },
  },
  {
    name: '16 concurrent lists, sorted by path, of a tree with 64 levels',
    async run({ service, signal, tokens, orgId }) {
      await service.withDatabase((client) => client.query(deepTree(orgId)))
      await keepInFlight(16, signal, (index) =>
        call(service, '/natural/api/v1/locations?sort=-path', tokens[index % tokens.length], { signal }),
      )
    },
  },
  {
    name: '300 MQTT messages of 1 MiB with QoS 2 that are not released',
    async run({ service, signal, reader, sockets }) {
      for (let connection = 0; connection < 3; connection++) {
        const socket = connect({ port: service.mqttPort, host: '127.0.0.1' }).on('error', ignore)
        sockets.push(socket)
        const { username, password, topic } = reader.mqtt
        socket.write(generate({ cmd: 'connect', clientId: `drill-${connection}`, username, password, clean: true }))
        const payload = Buffer.alloc(2 ** 20, 0x20)
        // The client never answers the server's PUBREC.
        socket.resume()
        for (let messageId = 1; messageId <= 100 && !socket.destroyed; messageId++) {
          socket.write(generate({ cmd: 'publish', topic, payload, qos: 2, messageId, retain: false, dup: false }))
          await sleep(5)
        }
      }
      await sleep(abuseMs, null, { signal }).catch(ignore)
    },
  },
  {
    name: '200 MQTT connections with an unfinished CONNECT of 4 MiB',
    async run({ service, signal, sockets }) {
      // A CONNECT whose header announces 4 MiB, followed by only half of it.
      const head = Buffer.from([0x10, 0x80, 0x80, 0x80, 0x02])
      const half = Buffer.concat([head, Buffer.from([0, 4]), Buffer.from('MQTT'), Buffer.alloc(2 * 2 ** 20)])
      for (let count = 0; count < 200; count++) sendUnread(service.mqttPort, half, sockets)
      await sleep(abuseMs, null, { signal }).catch(ignore)
    },
  },
  {
    name: '2,000 anonymous bodies of 1 MiB that lack a byte',
    async run({ service, signal, sockets }) {
      const head =
        'POST /api/v1/oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1048576\r\n\r\n'
      const unfinished = Buffer.concat([Buffer.from(head), Buffer.alloc(2 ** 20 - 1, 0x20)])
      // The server accepts 2,000 connections from one address; the neighbour needs some of them.
      for (let count = 0; count < 1_900 && !signal.aborted; count++) {
        sendUnread(service.httpPort, unfinished, sockets)
        if (count % 50 === 0) await sleep(10)
      }
      await sleep(abuseMs, null, { signal }).catch(ignore)
    },
  },
  {
    name: '60 requests, of five organizations, whose bodies do not arrive',
    async run({ service, signal, tokens, sockets }) {
      const others = await otherOrganizations(service, 4)
      for (let count = 0; count < 60; count++) {
        const token = [tokens[count % tokens.length], ...others][count % 5]
        const head = `POST /api/v1/assets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`
        const body = 'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{'
        sendUnread(service.httpPort, head + body, sockets)
      }
      await sleep(abuseMs, null, { signal }).catch(ignore)
    },
  },
  {
    name: '500 HTTP connections with half a head',
    async run({ service, signal, sockets }) {
      for (let count = 0; count < 500; count++)
        sendUnread(service.httpPort, 'GET /api/v1/assets HTTP/1.1\r\nHost: x\r\nX-Half:', sockets)
      await sleep(abuseMs, null, { signal }).catch(ignore)
    },
  },
  {
    name: '40 exports that are not read',
    async run({ service, signal, tokens, sockets }) {
      for (let count = 0; count < 40; count++) {
        const token = tokens[count % tokens.length]
        const text = `GET /api/v1/bulk/history HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`
        sendUnread(service.httpPort, text, sockets)
      }
      await sleep(abuseMs, null, { signal }).catch(ignore)
    },
  },
  {
    name: '30 creates that wait for a lock',
    run: ({ service, signal, tokens, orgId }) =>
      service.withDatabase(async (client) => {
        await client.query('begin')
        await client.query('select 1 from record_counts where org_id = $1 for update', [orgId])
        await keepInFlight(30, signal, (index) =>
          call(service, '/assets', tokens[index % tokens.length], { ...json({ name: 'Waits' }), signal }),
        )
        await client.query('rollback')
      }),
  },
  {
    name: '72 creates, of eight organizations, that wait for a lock',
    async run({ service, signal }) {
      const tokens = await otherOrganizations(service, 8)
      await service.withDatabase(async (client) => {
        await client.query('begin')
        await client.query('lock table assets in share mode')
        await keepInFlight(72, signal, (index) =>
          call(service, '/assets', tokens[index % tokens.length], { ...json({ name: 'Waits' }), signal }),
        )
        await client.query('rollback')
      })
    },
  },
]

/** Creates organizations and returns an access token of each. */
const otherOrganizations = (service, count) =>
  Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const name = `Abuser ${index} of ${count}`
      const organization = await createOrganization({ url: service.databaseUrl, name, assets: 1, credentials: 1 })
      return exchangeToken(origin(service), organization.credentials[0])
    }),
  )

/** Reads of 200 assets, each at another antenna than in the previous message. */
const movesOf = (message) => tagsOf(200).map((tag, index) => ({ tag, antenna: 1 + ((index + message) % 8) }))

const sendReads = ({ httpPort }, { token }, reads, signal) =>
  fetch(`http://127.0.0.1:${httpPort}/ingest/v1/reads`, {
    ...json({ reads }),
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    signal,
  })

async function createImport(service, session, rows) {
  const headers = { Authorization: `Bearer ${session}`, 'Content-Type': 'application/json' }
  const post = (path, body) => fetch(`${base(service)}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const { data } = await (await post('/imports', { kind: 'assets' })).json()
  await (await post(`/imports/${data.id}/rows`, { rows })).arrayBuffer()
  return data.id
}

/** Inserts 200 chains of 64 nested locations. */
const deepTree = (orgId) => `
  insert into locations (org_id, id, parent_id, external_key, name, is_active, valid_from, created_at, updated_at, search_text)
  select ${orgId}, 5000000000000 + chain * 100 + level, case when level > 1 then 5000000000000 + chain * 100 + level - 1 end,
    'DEEP-' || chain || '-' || level, 'Deep', true, now() - interval '30 days', now(), now(), 'deep'
  from generate_series(1, 200) chain cross join generate_series(1, 64) level`
