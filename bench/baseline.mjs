/**
 * The baseline of the API: bare node:http, a token cache, one SQL statement per read over pipelined connections, and a
 * transaction of three inserts per create. It runs statements like the server's on the same tables and returns the same
 * responses. It has no routing, validation, rate limit, tenant isolation, common headers or log.
 */
import { createServer } from 'node:http'
import { Socket } from 'node:net'
import { URLSearchParams } from 'node:url'
import pg from 'pg'
import { getTypeParser } from './environment.mjs'
import { expose } from './expose.mjs'
import { basePath } from './requests.mjs'

/** The server's default numbers of connections for single statements and for transactions. */
const readConnections = 4
const writeConnections = 8
const counterSlots = 16
const pageSize = 50
const timestamptz = 1184

const columns = `r.id, r.external_key, r.name, r.description, r.metadata, r.is_active, r.valid_from, r.valid_to,
  r.created_at, r.updated_at, r.deleted_at`
const tagColumns = 't.id as tag_id, t.tag_type, t.value as tag_value'
const listed = `r.org_id = $1 and r.deleted_at is null and (r.valid_from <= (select now()) or r.valid_from <= r.created_at)
  and (r.valid_to is null or r.valid_to > (select now()))`
const withTags = (order) => `
  select total.total, page.*, ${tagColumns} from total left join page on true
  left join tags t on t.org_id = $1 and t.asset_id = page.id order by ${order}, t.created_at, t.id`
const filtered = (condition, order) => `
  with matches as materialized (select r.id, r.external_key, r.name from assets r where ${listed} and ${condition}),
  total as (select count(*) as total from matches),
  page as (select ${columns} from (select id from matches order by ${order}, id limit ${pageSize}) chosen
    join assets r on r.org_id = $1 and r.id = chosen.id) ${withTags(`page.${order}`)}`
const outside = (condition) =>
  `(select count(*) from assets r where r.org_id = $1 and r.deleted_at is null and ${condition})`

const statements = {
  point: `select ${columns}, ${tagColumns} from assets r left join tags t on t.org_id = $1 and t.asset_id = r.id
    where r.org_id = $1 and r.id = $2 and r.deleted_at is null order by t.created_at, t.id`,
  list: `with total as (select ((select coalesce(sum(active + inactive), 0) from record_counts
      where org_id = $1 and kind = 'asset')
      - ${outside('r.valid_from > r.created_at and r.valid_from > now()')}
      - ${outside('r.valid_to is not null and r.valid_to <= now()')})::bigint as total),
    page as (select ${columns} from assets r where ${listed} order by r.external_key limit ${pageSize})
    ${withTags('page.external_key')}`,
  filter: filtered('r.is_active and r.external_key = any($2::text[])', 'name'),
  search: filtered('r.search_text like $2', 'external_key'),
  asset: `insert into assets (org_id, id, external_key, name, description, metadata, is_active, valid_from, created_at,
      updated_at, search_text) values ($1, $2, $3, $4, $5, $6, true, $7, $7, $7, $8)`,
  tag: `insert into tags (org_id, id, asset_id, tag_type, value, normalized_value, created_at)
    values ($1, $2, $3, $4, $5, $6, $7)`,
  count: `insert into record_counts as c (org_id, kind, shard, active, inactive, deleted_active, deleted_inactive)
    values ($1, 'asset', $2, 1, 0, 0, 0) on conflict (org_id, kind, shard) do update set active = c.active + 1`,
}

let orgId
const tokens = new Set()

/** A timestamp in the format of the API, from PostgreSQL's text in UTC. */
function toWire(text) {
  const fraction = text[19] === '.' ? text.slice(20, text.indexOf('+')) : ''
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
}

const types = { getTypeParser: (oid, format) => (oid === timestamptz ? toWire : getTypeParser(oid, format)) }

const clientOptions = (url, planMode) => {
  const options = `-c timezone=UTC -c random_page_cost=1.1 -c plan_cache_mode=${planMode}`
  return { connectionString: url, pipeline: true, options, types }
}

/** Statements use these connections round-robin and are pipelined: none waits for the result of the previous statement. */
async function openPipeline(url, count, planMode) {
  const connect = async () => {
    const client = new pg.Client(clientOptions(url, planMode))
    await client.connect()
    return client
  }
  const clients = await Promise.all(Array.from({ length: count }, connect))
  let next = 0
  return async (name, values) => {
    const { rows } = await clients[next++ % count].query({ name, text: statements[name], values })
    return rows
  }
}

/** Groups rows into assets: there is one row per tag, and the rows of an asset are adjacent. */
function toAssets(rows) {
  const assets = []
  let last
  for (const row of rows) {
    if (row.id === null) continue
    if (last?.id !== row.id) {
      const { id, external_key, name, description, metadata, is_active } = row
      const { valid_from, valid_to, created_at, updated_at, deleted_at } = row
      const state = { is_active, valid_from, valid_to, created_at, updated_at, deleted_at }
      last = { id, external_key, name, description, metadata, ...state, tags: [] }
      assets.push(last)
    }
    if (row.tag_id !== null) last.tags.push({ id: row.tag_id, tag_type: row.tag_type, value: row.tag_value })
  }
  return assets
}

const randomId = () => Math.floor(Math.random() * 2 ** 52)

/** A client whose socket can be corked, so that several statements share a packet. */
class WriteClient extends pg.Client {
  constructor(config) {
    const socket = new Socket()
    super({ ...config, stream: () => socket })
    this.socket = socket
  }
}

/** Runs the statements as one transaction, which is sent in one packet. */
async function runTransaction(pool, statementsToRun) {
  const client = await pool.connect()
  client.socket.cork()
  const sent = [
    client.query('begin'),
    ...statementsToRun.map(([name, values]) => client.query({ name, text: statements[name], values })),
    client.query('commit'),
  ]
  client.socket.uncork()
  await Promise.all(sent).finally(() => client.release())
}

async function create(pool, { external_key, name, description, metadata, tags: [tag] }) {
  const [id, tagId, at] = [randomId(), randomId(), new Date().toISOString()]
  const search = [name, external_key, description, tag.value].join('\u0001').toLowerCase()
  const slot = Math.floor(Math.random() * counterSlots)
  await runTransaction(pool, [
    ['asset', [orgId, id, external_key, name, description, metadata, at, search]],
    ['tag', [orgId, tagId, id, tag.tag_type, tag.value, tag.value.toLowerCase(), at]],
    ['count', [orgId, slot]],
  ])
  const state = { is_active: true, valid_from: at, valid_to: null, created_at: at, updated_at: at, deleted_at: null }
  return { id, external_key, name, description, metadata, ...state, tags: [{ id: tagId, ...tag }] }
}

function readBody(request) {
  return new Promise((resolve) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => resolve(JSON.parse(Buffer.concat(chunks))))
  })
}

async function start({ url, orgId: id }) {
  orgId = id
  const read = await openPipeline(url, readConnections, 'force_generic_plan')
  const search = await openPipeline(url, readConnections, 'auto')
  const writers = new pg.Pool({
    ...clientOptions(url, 'force_generic_plan'),
    Client: WriteClient,
    max: writeConnections,
  })
  const assetsPath = `${basePath}/assets`

  async function list(query) {
    const keys = query.getAll('external_key')
    const term = query.get('q')
    let rows
    if (keys.length > 0) rows = await read('filter', [orgId, keys])
    else if (term !== null) rows = await search('search', [orgId, `%${term.toLowerCase()}%`])
    else rows = await read('list', [orgId])
    return { data: toAssets(rows), limit: pageSize, offset: 0, total_count: rows[0].total }
  }

  async function respond(request) {
    const { method, url: path } = request
    if (method === 'POST') return { data: await create(writers, await readBody(request)) }
    if (path[assetsPath.length] === '?') return list(new URLSearchParams(path.slice(assetsPath.length + 1)))
    return { data: toAssets(await read('point', [orgId, Number(path.slice(assetsPath.length + 1))]))[0] }
  }

  const server = createServer({ keepAliveTimeout: 65_000 }, async (request, response) => {
    if (!tokens.has(request.headers.authorization)) return response.writeHead(401, { 'Content-Length': 0 }).end()
    try {
      const text = JSON.stringify(await respond(request))
      const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }
      response.writeHead(request.method === 'POST' ? 201 : 200, headers).end(text)
    } catch (error) {
      process.stderr.write(`baseline: ${error.stack}\n`)
      response.writeHead(500, { 'Content-Length': 0 }).end()
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: server.address().port }
}

function setTokens(issued) {
  tokens.clear()
  for (const token of issued) tokens.add(`Bearer ${token}`)
}

expose({ start, setTokens })
