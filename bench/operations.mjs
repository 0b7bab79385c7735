import { pick } from './random.mjs'

/** How many keys the filtered list asks for at once. */
const keysPerFilter = 10

let made = 0
/** Tells apart what this run creates from what earlier runs and other processes created. */
const run = Date.now().toString(36).toUpperCase()

function newAsset() {
  made++
  return {
    name: `Bench asset ${made}`,
    description: 'Made by the benchmark',
    metadata: { owner: 'dock 1', weight_kg: 12 },
    tags: [{ tag_type: 'rfid', value: `E28F${run}${made.toString(16).toUpperCase().padStart(8, '0')}` }],
  }
}

/**
 * What is measured. `ask` gives one request of a client that knows the sample; `bar` is the least share of the floor's
 * throughput, `growthBar` the most by which the median may grow from the smallest to the largest organization. Some have no floor: only
 * their growth counts.
 */
export const operations = {
  'point-read': {
    title: 'point read',
    bar: 0.7,
    growthBar: 1.5,
    ask: (sample, random) => ({ method: 'GET', path: `/assets/${pick(random, sample.ids)}` }),
  },
  list: {
    title: 'list of 50 with total',
    bar: 0.8,
    growthBar: 1.5,
    ask: () => ({ method: 'GET', path: '/assets?limit=50' }),
  },
  filter: {
    title: 'filtered list',
    bar: 0.8,
    ask(sample, random) {
      const keys = Array.from({ length: keysPerFilter }, () => `external_key=${pick(random, sample.keys)}`)
      return { method: 'GET', path: `/assets?is_active=true&${keys.join('&')}&sort=name` }
    },
  },
  search: {
    title: 'substring search',
    bar: 0.8,
    ask: (sample, random) => ({ method: 'GET', path: `/assets?q=${encodeURIComponent(pick(random, sample.terms))}` }),
  },
  report: {
    title: 'report, first page',
    bar: null,
    growthBar: 1.5,
    isWithoutFloor: true,
    ask: () => ({ method: 'GET', path: '/reports/asset-locations?limit=50' }),
  },
  'report-asset': {
    title: 'report of one asset',
    bar: null,
    growthBar: 1.5,
    isWithoutFloor: true,
    ask: (sample, random) => ({ method: 'GET', path: `/reports/asset-locations?asset_id=${pick(random, sample.ids)}` }),
  },
  history: {
    title: 'history, first page',
    bar: null,
    growthBar: 1.5,
    isWithoutFloor: true,
    ask: (sample) => ({ method: 'GET', path: `/assets/${sample.tracked}/history?limit=50` }),
  },
  create: {
    title: 'create',
    bar: 0.65,
    ask() {
      const asset = newAsset()
      return { method: 'POST', path: '/assets', body: { external_key: `${run}-${made}`, ...asset } }
    },
  },
  'create-keyless': {
    title: 'create, key generated',
    bar: 0.65,
    ask: () => ({ method: 'POST', path: '/assets', body: newAsset() }),
  },
  patch: {
    title: 'patch',
    bar: null,
    ask: (sample, random) => ({
      method: 'PATCH',
      path: `/assets/${pick(random, sample.ids)}`,
      body: { description: `Seen on round ${Math.floor(random() * 1000)}`, metadata: { round: 1 } },
    }),
  },
}

export const base = '/api/v1'

const mediaType = { POST: 'application/json', PATCH: 'application/merge-patch+json' }

/** The bytes of a request; the floor gets the same ones as the service, token included. */
export function toHttp({ method, path, body }, token) {
  const fixed = 'Host: 127.0.0.1\r\nUser-Agent: lastseen-bench\r\n'
  const head = `${method} ${base}${path} HTTP/1.1\r\n${fixed}Authorization: Bearer ${token}\r\n`
  if (body === undefined) return `${head}\r\n`
  const text = JSON.stringify(body)
  return `${head}Content-Type: ${mediaType[method]}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}
