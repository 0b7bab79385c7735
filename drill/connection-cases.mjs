/** Abuse by connections: clients that do not read, do not finish, do not close or open too many of them. */
import { createRequire } from 'node:module'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createOrganization, tagsOf } from '../bench/seed.mjs'
import {
  call,
  exchangeTokens,
  get,
  ignore,
  json,
  origin,
  otherOrganizations,
  pause,
  sendUnread,
  signIn,
} from './requests.mjs'

const { generate } = createRequire(new URL('../server/package.json', import.meta.url))('mqtt-packet')

const mebibyte = 2 ** 20

export const connectionCases = [
  {
    name: '400 live streams that are not read',
    async run({ service, signal, tokens, reader, sockets }) {
      for (let count = 0; count < 400; count++)
        sendUnread(service.httpPort, get('/live', tokens[count % tokens.length]), sockets)
      await sendMoves(service, reader, signal)
    },
  },
  {
    name: '100 live streams that are opened again and again, and whose keys are revoked',
    async prepare({ service }) {
      const [url, name] = [service.databaseUrl, 'Watched']
      const { orgId, reader, credentials } = await createOrganization({ url, name, assets: 300, credentials: 10 })
      const session = await signIn(service, name)
      const { data } = JSON.parse(await call(service, `/orgs/${orgId}/api-keys?limit=200`, session))
      const keyIds = new Map(data.map(({ jti, id }) => [jti, id]))
      const tokens = await exchangeTokens(origin(service), credentials)
      const keys = credentials.map(({ client_id }, index) => ({
        path: `/orgs/${orgId}/api-keys/${keyIds.get(client_id)}`,
        token: tokens[index],
      }))
      return { session, reader, keys }
    },
    run: (context) => Promise.all([sendMoves(context.service, context.reader, context.signal), revokeStreams(context)]),
  },
  {
    name: '200 lists of large assets that are not read',
    async prepare({ service, tokens }) {
      const metadata = { text: 'x'.repeat(65_000) }
      const create = (index) => call(service, '/assets', tokens[index % 48], json({ name: `Large ${index}`, metadata }))
      for (let created = 0; created < 200; created += 8)
        await Promise.all(Array.from({ length: 8 }, (_, index) => create(created + index)))
      return {}
    },
    async run({ service, signal, tokens, sockets }) {
      for (let count = 0; count < 200; count++)
        sendUnread(service.httpPort, get('/assets?limit=200&q=Large', tokens[count % tokens.length]), sockets)
      await pause(signal)
    },
  },
  {
    name: '40 exports that are not read',
    async run({ service, signal, tokens, sockets }) {
      for (let count = 0; count < 40; count++)
        sendUnread(service.httpPort, get('/bulk/history', tokens[count % tokens.length]), sockets)
      await pause(signal)
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
        const payload = Buffer.alloc(mebibyte, 0x20)
        // The client never answers the server's PUBREC.
        socket.resume()
        for (let messageId = 1; messageId <= 100 && !socket.destroyed; messageId++) {
          socket.write(generate({ cmd: 'publish', topic, payload, qos: 2, messageId, retain: false, dup: false }))
          await sleep(5)
        }
      }
      await pause(signal)
    },
  },
  {
    name: '200 MQTT connections with an unfinished CONNECT of 4 MiB',
    async run({ service, signal, sockets }) {
      // A CONNECT whose header announces 4 MiB, followed by only half of it.
      const head = Buffer.from([0x10, 0x80, 0x80, 0x80, 0x02])
      const half = Buffer.concat([head, Buffer.from([0, 4]), Buffer.from('MQTT'), Buffer.alloc(2 * mebibyte)])
      for (let count = 0; count < 200; count++) sendUnread(service.mqttPort, half, sockets)
      await pause(signal)
    },
  },
  {
    name: '1,900 anonymous bodies of 1 MiB that lack a byte',
    async run({ service, signal, sockets }) {
      const head =
        'POST /api/v1/oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1048576\r\n\r\n'
      const unfinished = Buffer.concat([Buffer.from(head), Buffer.alloc(mebibyte - 1, 0x20)])
      // The server accepts 2,000 connections from one address; the neighbour needs some of them.
      for (let count = 0; count < 1_900 && !signal.aborted; count++) {
        sendUnread(service.httpPort, unfinished, sockets)
        if (count % 50 === 0) await sleep(10)
      }
      await pause(signal)
    },
  },
  {
    name: '64 anonymous bodies, in chunks of one byte, that are not finished',
    async run({ service, signal, sockets }) {
      const head =
        'POST /api/v1/oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
      const chunks = Buffer.from('1\r\n \r\n'.repeat(4_096))
      const send = async () => {
        const socket = connect({ port: service.serverPort, host: '127.0.0.1' }).on('error', ignore).resume()
        sockets.push(socket)
        socket.write(head)
        // A MiB of body, less a byte.
        for (let sent = 4_096; sent < mebibyte && !signal.aborted && !socket.destroyed; sent += 4_096)
          if (!socket.write(chunks)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(ignore)
      }
      await Promise.all(Array.from({ length: 64 }, send))
      await pause(signal)
    },
  },
  {
    name: '60 requests, of five organizations, whose bodies do not arrive',
    prepare: async ({ service }) => ({ others: await otherOrganizations(service, 4) }),
    async run({ service, signal, tokens, others, sockets }) {
      for (let count = 0; count < 60; count++) {
        const token = [tokens[count % tokens.length], ...others][count % 5]
        const head = `POST /api/v1/assets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`
        const body = 'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{'
        sendUnread(service.httpPort, head + body, sockets)
      }
      await pause(signal)
    },
  },
  {
    name: '500 HTTP connections with half a head',
    async run({ service, signal, sockets }) {
      for (let count = 0; count < 500; count++)
        sendUnread(service.httpPort, 'GET /api/v1/assets HTTP/1.1\r\nHost: x\r\nX-Half:', sockets)
      await pause(signal)
    },
  },
  {
    name: '500 HTTP connections that the client does not close after a timeout or an error',
    async run({ service, sockets }) {
      const openFiles = () => readdirSync(`/proc/${service.pid}/fd`).length
      const before = openFiles()
      for (let count = 0; count < 500; count++) {
        const options = { port: service.serverPort, host: '127.0.0.1', allowHalfOpen: true }
        const text = count % 2 === 0 ? 'nonsense\r\n\r\n' : 'GET /api/v1/assets HTTP/1.1\r\nHost: x\r\nX-Half:'
        const socket = connect(options, () => socket.write(text)).resume()
        sockets.push(socket.on('error', ignore))
      }
      // A head may take 20 seconds, which the server checks every 5, and a second later it destroys the connection.
      const deadline = performance.now() + 40_000
      while (sockets.some(({ readableEnded, closed }) => !readableEnded && !closed) || openFiles() > before + 20) {
        if (performance.now() > deadline)
          throw new Error(`the server has ${openFiles()} open files, ${before} before the case`)
        await sleep(100)
      }
    },
  },
]

/** Opens as many live streams as the organization may have, then more, and revokes all keys once moves have arrived. */
async function revokeStreams({ service, session, keys, sockets }) {
  const streams = keys.flatMap((key) => Array.from({ length: 10 }, () => openStream(service, key, sockets)))
  const count = (isCounted) => streams.filter(isCounted).length
  const deadline = performance.now() + 20_000
  for (let round = 0; count(({ bytes }) => bytes > 1_000) < streams.length; round++) {
    if (performance.now() > deadline) throw new Error('live streams received no moves')
    if (round < 20) for (const { token } of keys) sendUnread(service.httpPort, get('/live', token), sockets)
    await sleep(100)
  }
  for (const { path } of keys) await call(service, path, session, { method: 'DELETE' })
  await sleep(1_000)
  const left = count(({ isClosed }) => !isClosed)
  if (left > 0) throw new Error(`${left} live streams were open a second after the revocation`)
}

/** A live stream that is read. */
function openStream(service, { token }, sockets) {
  const stream = { bytes: 0, isClosed: false }
  const socket = connect({ port: service.serverPort, host: '127.0.0.1' }, () => {
    socket.write(get('/live', token).replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
  })
  socket.on('error', ignore).on('data', (chunk) => (stream.bytes += chunk.length))
  socket.on('close', () => (stream.isClosed = true))
  sockets.push(socket)
  return stream
}

/** An asset moves once in a minute at most, so each message is of another minute; the assets were last seen before. */
const firstMinuteMs = 170 * 60_000

/** Sends reads of 200 assets, each at another antenna than in the previous message, until the signal is aborted. */
async function sendMoves(service, { token }, signal) {
  const tags = tagsOf(200)
  const startMs = Date.now() - firstMinuteMs
  for (let message = 0; !signal.aborted; message++) {
    const observed_at = new Date(startMs + message * 60_000).toISOString()
    const reads = tags.map((tag, index) => ({ tag, antenna: 1 + ((index + message) % 8), observed_at }))
    await call(service, '/ingest/v1/reads', token, { ...json({ reads }), signal }).catch((error) => {
      if (!signal.aborted) throw error
    })
    await sleep(100)
  }
}
