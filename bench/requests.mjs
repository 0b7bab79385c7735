/** The measured requests, and sessions that refresh access tokens. */
import { keyOf, searchTermOf } from './seed.mjs'

const keysPerFilter = 10
export const tokenMaxAgeMs = 7 * 60_000
const tokenConcurrency = 4
export const basePath = '/api/v1'

/** A prefix that makes the keys of this process unique. */
const runId = `${Date.now().toString(36)}${process.pid.toString(36)}`.toUpperCase()
let created = 0

const pick = (list) => list[Math.floor(Math.random() * list.length)]
const get = (path) => ({ method: 'GET', path })

function newAsset() {
  created++
  return {
    external_key: `${runId}-${created}`,
    name: `Bench asset ${created}`,
    description: 'Created by the benchmark',
    metadata: { owner: 'dock 1', weight_kg: 12 },
    tags: [{ tag_type: 'rfid', value: `E28F-${runId}-${created}` }],
  }
}

/** Each function creates one request with random values from the sample. */
export const operations = {
  'point read': ({ ids }) => get(`/assets/${pick(ids)}`),
  'list of 50': () => get('/assets?limit=50'),
  'filtered list'({ numbers }) {
    const keys = Array.from({ length: keysPerFilter }, () => `external_key=${keyOf(pick(numbers))}`)
    return get(`/assets?is_active=true&${keys.join('&')}&sort=name`)
  },
  'substring search': ({ numbers }) => get(`/assets?q=${encodeURIComponent(searchTermOf(pick(numbers)))}`),
  create: () => ({ method: 'POST', path: '/assets', body: newAsset() }),
  patch: ({ ids }) => ({
    method: 'PATCH',
    path: `/assets/${pick(ids)}`,
    body: { description: `Inspected, ${++created}` },
  }),
  'asset history': ({ ids }) => get(`/assets/${pick(ids)}/history?limit=50`),
  'location history': ({ locationIds }) => get(`/locations/${pick(locationIds)}/history?limit=50`),
  report: () => get('/reports/asset-locations?limit=50'),
  'report of one asset': ({ ids }) => get(`/reports/asset-locations?asset_id=${pick(ids)}`),
}

/** The bytes of an HTTP request; `headers` ends with a line break. */
export function toHttp({ method, path, body }, headers, prefix = basePath) {
  const head = `${method} ${prefix}${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}`
  if (body === undefined) return `${head}\r\n`
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  return `${head}Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}

export const authorization = (token) => `Authorization: Bearer ${token}\r\n`

async function exchange(port, { client_id, client_secret }) {
  const base = `http://127.0.0.1:${port}${basePath}`
  const response = await fetch(`${base}/oauth/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ grant_type: 'client_credentials', client_id, client_secret }),
  })
  if (response.status !== 200) throw new Error(`a token exchange returned ${response.status}`)
  const { access_token: token } = await response.json()
  // The first use of a token loads its credential into the server's cache.
  const firstUse = await fetch(`${base}/assets?limit=1`, { headers: { Authorization: `Bearer ${token}` } })
  await firstUse.arrayBuffer()
  if (firstUse.status !== 200) throw new Error(`the first use of a token returned ${firstUse.status}`)
  return token
}

/** Returns a function that calls `onTokens` with new tokens when the current tokens are about to expire. */
export function createSession(port, credentials, onTokens) {
  let issuedAt = -Infinity
  return async function refresh() {
    if (performance.now() - issuedAt < tokenMaxAgeMs) return
    const tokens = []
    const queue = credentials.values()
    const work = async () => {
      for (const credential of queue) tokens.push(await exchange(port, credential))
    }
    await Promise.all(Array.from({ length: tokenConcurrency }, work))
    issuedAt = performance.now()
    await onTokens(tokens)
  }
}
