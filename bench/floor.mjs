/**
 * The floor: what the same machine gives without a service around it. Bare node:http and the same driver, pool and
 * roles running the very statements of the service. No routing, no authentication, no rate limit, no validation, no
 * common headers, no log. The reads do not even put their SQL together: its text is taken down once, at the start.
 */
import { createServer } from 'node:http'
import { changeAsset, createAsset } from '../server/dist/assets/commands.js'
import { assetStore, listAssets } from '../server/dist/assets/assets.sql.js'
import { connect, lanesOf, openPool, readerRole, writerRole } from '../server/dist/db/connect.js'
import { IdSource } from '../server/dist/db/id-source.js'
import { installationKeys } from '../server/dist/db/installation.js'
import { render, sql } from '../server/dist/db/sql.js'
import { now, systemClock } from '../server/dist/kernel/clock.js'
import { formatMillis, fromDatabase, toDatabase } from '../server/dist/kernel/instant.js'
import { base } from './operations.mjs'

const wireTime = (text) => (text === null ? null : formatMillis(fromDatabase(text)))

/** One row per tag, the rows of an asset in a run. */
function presentRows(rows) {
  const assets = []
  let last
  for (const row of rows) {
    if (row.id === null) continue
    if (last?.id !== row.id) {
      last = {
        id: row.id,
        external_key: row.external_key,
        name: row.name,
        description: row.description,
        metadata: JSON.parse(row.metadata),
        is_active: row.is_active,
        valid_from: wireTime(row.valid_from),
        valid_to: wireTime(row.valid_to),
        created_at: wireTime(row.created_at),
        updated_at: wireTime(row.updated_at),
        deleted_at: wireTime(row.deleted_at),
        tags: [],
      }
      assets.push(last)
    }
    if (row.tag_id !== null) last.tags.push({ id: row.tag_id, tag_type: row.tag_type, value: row.tag_value })
  }
  return assets
}

const presentAsset = (asset) => ({
  id: asset.id,
  external_key: asset.externalKey,
  name: asset.name,
  description: asset.description,
  metadata: asset.metadata,
  is_active: asset.isActive,
  valid_from: formatMillis(asset.validFrom),
  valid_to: asset.validTo && formatMillis(asset.validTo),
  created_at: formatMillis(asset.createdAt),
  updated_at: formatMillis(asset.updatedAt),
  deleted_at: asset.deletedAt && formatMillis(asset.deletedAt),
  tags: asset.tags.map(({ id, type, value }) => ({ id, tag_type: type, value })),
})

/** Values no statement holds by itself, to find out which parameter is which. As many keys as a filtered list asks for. */
const marks = {
  id: 4_111,
  at: '2001-02-03T04:05:06.000000Z',
  keys: Array.from({ length: 10 }, () => 'mark'),
  q: 'mark',
}
const limit = 50

/** Takes down a read's text and makes a function that gives its values for one request. */
async function takeDown(run) {
  let seen
  await run({
    query: async (statement) => {
      seen = statement
      return []
    },
  })
  const { text, values } = render(seen)
  const fill = values.map((value) => {
    if (value === marks.id) return (given) => given.id
    if (value === toDatabase(marks.at)) return (given) => given.at
    if (value === marks.keys) return (given) => given.keys
    if (value === `%${marks.q}%`) return (given) => `%${given.q}%`
    return () => value
  })
  return { text, valuesOf: (given) => fill.map((one) => one(given)) }
}

const byKey = [{ field: 'external_key', descending: false }]
const byName = [{ field: 'name', descending: false }]

function takeDownReads(orgId) {
  const list = (filter, sort) => (db) => listAssets(db, orgId, { filter, sort, limit, offset: 0, now: marks.at })
  return Promise.all([
    takeDown((db) => assetStore.find(db, orgId, marks.id)),
    takeDown(list({}, byKey)),
    takeDown(list({ isActive: true, externalKeys: marks.keys }, byName)),
    takeDown(list({ q: marks.q }, byKey)),
  ])
}

/** Connections held for transactions, handed out one after the other. */
async function holdConnections(open, count) {
  const hold = async () => {
    const pool = open()
    await pool.unsafe('select 1')
    return pool.reserve()
  }
  const idle = await Promise.all(Array.from({ length: count }, hold))
  const waiting = []
  return {
    take: () => (idle.length > 0 ? idle.pop() : new Promise((resume) => waiting.push(resume))),
    give(connection) {
      if (waiting.length > 0) waiting.shift()(connection)
      else idle.push(connection)
    },
  }
}

/** The doors to the database with nothing but the transaction in them. */
function bareDatabase(held, reader) {
  const on = (handle) => ({
    query(statement) {
      const { text, values } = render(statement)
      return handle.unsafe(text, values, { prepare: true })
    },
  })
  async function transaction(opening, run) {
    const connection = await held.take()
    try {
      const begun = Promise.all(opening.map((text) => connection.unsafe(text).simple().execute()))
      const result = await run(connection, () => connection.unsafe('commit').simple().execute())
      await begun
      return result
    } finally {
      held.give(connection)
    }
  }
  const waiting = (work) => async (connection, commit) => {
    const result = await work(on(connection))
    await commit()
    return result
  }
  const atOnce = (work) => async (connection, commit) => {
    const query = (statement) => on(connection).query(statement).execute()
    const [result] = await Promise.all([work({ query }), commit()])
    return result
  }
  const opening = (orgId) => ['begin', `set local app.org_id = '${orgId}'`]
  return {
    read: on(reader),
    inOrganization(orgId, work, { relaxed = false } = {}) {
      const commit = relaxed ? ['set local synchronous_commit = off'] : []
      return transaction([...opening(orgId), ...commit], waiting(work))
    },
    sendInOrganization: (orgId, work) => transaction(opening(orgId), atOnce(work)),
    shared: (work) => transaction(['begin'], waiting(work)),
  }
}

function readBody(request) {
  return new Promise((resolve) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => resolve(JSON.parse(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))))
  })
}

const draftOf = (body) => ({
  ...(body.external_key === undefined ? {} : { externalKey: body.external_key }),
  name: body.name,
  description: body.description,
  isActive: true,
  validTo: null,
  tags: body.tags.map((tag) => ({ type: tag.tag_type, value: tag.value })),
  metadata: body.metadata,
})

/** What the service's own connections set, so that the planner treats both alike. */
async function connectionSettings(url) {
  const service = connect({ url, poolSize: 1 })
  const ask = async (door) => {
    const rows = await door.query(sql`select name, setting from pg_settings where source in ('client', 'session')`)
    return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))
  }
  try {
    return { reading: await ask(service.read), writing: await service.shared(ask) }
  } finally {
    await service.close()
  }
}

async function start({ url, orgId, poolSize }) {
  const { reading, writing } = await connectionSettings(url)
  const openWriter = () => openPool(url, 1, { ...writing, role: writerRole })
  const reader = openPool(url, poolSize, { ...reading, role: readerRole })
  const db = bareDatabase(await holdConnections(openWriter, lanesOf(poolSize)), reader)
  const { idKey } = await installationKeys(db)
  const needs = { db, clock: systemClock, ids: new IdSource(db, idKey) }
  const [point, list, filter, search] = await takeDownReads(orgId)
  const pathLength = `${base}/assets/`.length

  const run = (read, given) => reader.unsafe(read.text, read.valuesOf(given), { prepare: true })

  async function answerList(url) {
    const given = { at: toDatabase(now(systemClock)), keys: [] }
    for (const part of url.slice(pathLength).split('&')) {
      if (part.startsWith('external_key=')) given.keys.push(part.slice(13))
      else if (part.startsWith('q=')) given.q = decodeURIComponent(part.slice(2))
    }
    const rows = await run(given.keys.length > 0 ? filter : given.q === undefined ? list : search, given)
    return { data: presentRows(rows), limit, offset: 0, total_count: rows[0].total }
  }

  async function answerWrite(request) {
    const body = await readBody(request)
    if (request.method === 'POST') return { data: presentAsset(await createAsset(needs, orgId, draftOf(body))) }
    const id = Number(request.url.slice(pathLength))
    const { description, metadata } = body
    const merge = (asset) => ({ ...asset, description, metadata: { ...asset.metadata, ...metadata } })
    return { data: presentAsset(await changeAsset(needs, orgId, id, merge)) }
  }

  async function answer(request, response) {
    const { method, url } = request
    let body
    if (method !== 'GET') body = await answerWrite(request)
    else if (url[pathLength - 1] === '?') body = await answerList(url)
    else body = { data: presentRows(await run(point, { id: Number(url.slice(pathLength)) }))[0] }
    const text = JSON.stringify(body)
    const length = String(Buffer.byteLength(text))
    response.writeHead(method === 'POST' ? 201 : 200, ['Content-Type', 'application/json', 'Content-Length', length])
    response.end(text)
  }

  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    answer(request, response).catch((error) => {
      response.writeHead(500, ['Content-Length', '0']).end()
      process.stderr.write(`floor: ${error.stack}\n`)
    })
  })
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
}

process.once('message', start)
process.on('disconnect', () => process.exit())
// Ends by itself, so that a profile of it is written.
process.on('SIGTERM', () => process.exit())
