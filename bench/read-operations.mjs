/** Every read operation of both public surfaces and of the web app, with the requests that the part `growth` measures. */
import { readFileSync } from 'node:fs'
import { keyOf, searchTermOf } from './seed.mjs'

const dayMs = 86_400_000
const reportMaxMs = 300
/** One day of a location's history may take this many times as long beside a hundred times the history. */
const maxHistoryGrowth = 2
const maxReportGrowth = 3

const pick = (list) => list[Math.floor(Math.random() * list.length)]
const daysAgo = (days) => new Date(Date.now() - days * dayMs).toISOString()
const pastMonths = `at=${daysAgo(90)}`
const lastDay = `from=${daysAgo(2)}&to=${daysAgo(1)}`

const key = ({ numbers }) => keyOf(pick(numbers))
const term = ({ numbers }) => encodeURIComponent(searchTermOf(pick(numbers)))
const asset = ({ ids }) => pick(ids)
/** A location without children; the number of its assets does not depend on the size of the organization. */
const leafNumber = ({ locationIds: { length } }) => length - 1 - Math.floor((Math.random() * length) / 2)
const leaf = (sample) => sample.locationIds[leafNumber(sample) - 1]
/** A location at the second level with all below it: about a hundredth of the assets. */
const zoneNumber = () => 11 + Math.floor(Math.random() * 40)
const zone = (sample) => sample.locationIds[zoneNumber() - 1]
/** A location at the top level: with all below it, about a tenth of the assets. */
const top = ({ locationIds }) => locationIds[0]
/** Every asset was there once. */
const gate = ({ locationIds }) => locationIds.at(-1)

const publicOperations = (one, location, zoneOf) => ({
  'orgs.me': { '': () => '/orgs/me' },
  'bulk.assets.export': { 'first bytes': () => '/bulk/assets' },
  'bulk.locations.export': { 'first bytes': () => '/bulk/locations' },
  'bulk.history.export': { 'one day, first bytes': () => `/bulk/history?${lastDay}` },
  'bulk.moves.export': { 'one day, first bytes': () => `/bulk/moves?${lastDay}` },
  'bulk.jobs.get': { '': ({ jobId }) => `/bulk/jobs/${jobId}` },
  'bulk.jobs.errors': { '': ({ jobId }) => `/bulk/jobs/${jobId}/errors` },
  live: { 'response begins': () => '/live' },
  'assets.get': { '': (sample) => `/assets/${one(sample)}` },
  'locations.get': { '': (sample) => `/locations/${location(sample)}` },
  'locations.ancestors': { '': (sample) => `/locations/${location(sample)}/ancestors` },
  'locations.children': { '': (sample) => `/locations/${zoneOf(sample)}/children` },
  'locations.descendants': { '': (sample) => `/locations/${zoneOf(sample)}/descendants` },
  'assets.history': {
    'first page': (sample) => `/assets/${one(sample)}/history`,
    'one month': (sample) => `/assets/${one(sample)}/history?from=${daysAgo(60)}&to=${daysAgo(30)}`,
  },
})

const pastReport = (path) => ({ path, max: reportMaxMs, maxGrowth: maxReportGrowth })

const primary = {
  ...publicOperations(asset, leaf, top),
  'assets.list': {
    '': () => '/assets',
    'by name': () => '/assets?sort=name',
    'ten keys': (sample) => `/assets?${Array.from({ length: 10 }, () => `external_key=${key(sample)}`).join('&')}`,
    search: { path: (sample) => `/assets?q=${term(sample)}`, maxGrowth: 5 },
    inactive: () => '/assets?is_active=false',
    'with deleted': () => '/assets?include_deleted=true',
  },
  'locations.list': {
    '': () => '/locations',
    search: () => '/locations?q=location%203',
    children: (sample) => `/locations?parent_id=${zone(sample)}`,
  },
  'reports.asset-locations': {
    '': () => '/reports/asset-locations',
    'by asset key': () => '/reports/asset-locations?sort=asset_external_key',
    'one asset': (sample) => `/reports/asset-locations?asset_id=${asset(sample)}`,
    'one location': (sample) => `/reports/asset-locations?location_id=${leaf(sample)}`,
    'one zone': (sample) => `/reports/asset-locations?location_id=${zone(sample)}&include_descendants=true`,
    'top level': (sample) => `/reports/asset-locations?location_id=${top(sample)}&include_descendants=true`,
    'by location': () => '/reports/asset-locations?sort=location_external_key',
    search: (sample) => `/reports/asset-locations?q=${term(sample)}`,
    ...Object.fromEntries(
      ['asset_last_seen', 'asset_external_key', 'location_external_key']
        .flatMap((field) => [field, `-${field}`])
        .flatMap((sort) => [
          [`past instant, sort=${sort}`, pastReport(() => `/reports/asset-locations?${pastMonths}&sort=${sort}`)],
          [
            `past instant, one location, sort=${sort}`,
            pastReport((sample) => `/reports/asset-locations?${pastMonths}&location_id=${leaf(sample)}&sort=${sort}`),
          ],
        ]),
    ),
    'past instant, one zone': (sample) =>
      `/reports/asset-locations?${pastMonths}&location_id=${zone(sample)}&include_descendants=true`,
    'past instant, one asset': pastReport(
      (sample) => `/reports/asset-locations?${pastMonths}&asset_id=${asset(sample)}`,
    ),
    'past instant, search': pastReport((sample) => `/reports/asset-locations?${pastMonths}&q=${term(sample)}`),
  },
  'locations.history': {
    'first page': { path: (sample) => `/locations/${leaf(sample)}/history`, maxGrowth: maxHistoryGrowth },
    'one day': { path: (sample) => `/locations/${leaf(sample)}/history?${lastDay}`, maxGrowth: maxHistoryGrowth },
    gate: (sample) => `/locations/${gate(sample)}/history`,
    'one zone': (sample) => `/locations/${zone(sample)}/history?include_descendants=true`,
    'top level': (sample) => `/locations/${top(sample)}/history?include_descendants=true`,
    'one zone, one day': (sample) => `/locations/${zone(sample)}/history?include_descendants=true&${lastDay}`,
  },
}

const natural = {
  ...publicOperations(
    key,
    (sample) => `LOC-${leafNumber(sample)}`,
    () => 'LOC-1',
  ),
  'assets.list': {
    '': () => '/assets',
    'one location': (sample) => `/assets?location=LOC-${leafNumber(sample)}`,
    search: (sample) => `/assets?q=${term(sample)}`,
  },
  'locations.list': { '': () => '/locations', search: () => '/locations?q=location%203' },
  'locations.current': {
    '': () => '/locations/current',
    'one location': (sample) => `/locations/current?location=LOC-${leafNumber(sample)}`,
    search: (sample) => `/locations/current?q=${term(sample)}`,
  },
}

const web = {
  'auth.me': { '': () => '/auth/me' },
  'auth.export': { 'first bytes': () => '/auth/export' },
  'members.list': { '': () => '/members' },
  'invitations.list': { '': () => '/invitations' },
  'api-keys.list': { '': ({ orgId }) => `/orgs/${orgId}/api-keys` },
  'readers.list': { '': () => '/readers', silent: () => '/readers?is_silent=true' },
  'readers.get': { '': ({ readerId }) => `/readers/${readerId}` },
  'readers.connection': { '': ({ readerId }) => `/readers/${readerId}/connection` },
  'readers.inbox': { '': () => '/readers/inbox' },
  'readers.unknown': { '': () => '/readers/unknown' },
  'readers.reads': { '': ({ readerId }) => `/readers/${readerId}/reads` },
  'webhooks.list': { '': () => '/webhooks' },
  'webhooks.get': { '': ({ webhookId }) => `/webhooks/${webhookId}` },
  'webhooks.attempts': { '': ({ webhookId }) => `/webhooks/${webhookId}/attempts` },
  overview: { '': { path: () => '/overview', max: reportMaxMs } },
  'assets.unseen': {
    '': { path: () => '/unseen-assets', max: reportMaxMs },
    'two days': { path: () => '/unseen-assets?hours=48', max: reportMaxMs },
  },
  'assets.never-seen': { '': { path: () => '/never-seen-assets', max: reportMaxMs } },
  'assets.at-location': {
    'one location': (sample) => `/assets-at-location?location_id=${leaf(sample)}`,
    'one zone': (sample) => `/assets-at-location?location_id=${zone(sample)}`,
    'top level': (sample) => `/assets-at-location?location_id=${top(sample)}`,
  },
  'assets.by-last-seen': {
    '': () => '/assets-by-last-seen',
    'longest unseen': () => '/assets-by-last-seen?sort=last_seen_at',
    'one zone': (sample) => `/assets-by-last-seen?location_id=${zone(sample)}`,
    'top level': (sample) => `/assets-by-last-seen?location_id=${top(sample)}`,
  },
  attention: { '': { path: () => '/attention', max: reportMaxMs } },
  'moves.list': { '': () => '/moves' },
  'moves.counts': { 'one day': () => '/move-counts', 'a month': () => '/move-counts?days=32' },
  'assets.stays': {
    'a week': (sample) => `/asset-stays/${asset(sample)}`,
    'three months': (sample) => `/asset-stays/${asset(sample)}?from=${daysAgo(90)}`,
  },
  search: { '': (sample) => `/search?q=${term(sample)}` },
  'reports.dwell': {
    'a week': { path: () => '/reports/dwell', max: reportMaxMs },
    'a week, top level': { path: () => '/reports/dwell?level=0', max: reportMaxMs },
    'one day, three months ago': {
      path: () => `/reports/dwell?from=${daysAgo(91)}&to=${daysAgo(90)}`,
      max: reportMaxMs,
    },
  },
  'reports.flow': {
    'a week': { path: () => '/reports/flow', max: reportMaxMs },
    'a week, top level': { path: () => '/reports/flow?level=0', max: reportMaxMs },
    'three months': () => `/reports/flow?from=${daysAgo(90)}`,
  },
  'reports.assets-per-location': {
    '': { path: () => '/reports/assets-per-location', max: reportMaxMs },
    'past instant, top level': {
      path: () => `/reports/assets-per-location?${pastMonths}&level=0`,
      max: reportMaxMs,
    },
  },
  'exports.assets': { 'first bytes': () => '/exports/assets.csv' },
  'exports.locations': { 'first bytes': () => '/exports/locations.csv' },
  'exports.history': { 'one day, first bytes': () => `/exports/history.csv?${lastDay}` },
  'exports.positions': {
    'first bytes': () => '/exports/positions.csv',
    'one location, first bytes': (sample) => `/exports/positions.csv?location_id=${leaf(sample)}`,
    'past instant, first bytes': () => `/exports/positions.csv?${pastMonths}`,
  },
  'imports.get': { '': ({ importId }) => `/imports/${importId}` },
  'quotas.list': { '': () => '/quotas' },
  'views.list': { '': () => '/views' },
}

const surfaces = [
  { name: 'primary', document: 'primary', base: '/api/v1', operations: primary },
  { name: 'natural-key', document: 'natural-key', base: '/natural/api/v1', operations: natural },
  { name: 'web app', document: 'web', base: '/api/v1', operations: web },
]

/** The read operations of an OpenAPI document. */
function described(document) {
  const file = new URL(`../server/openapi/${document}.json`, import.meta.url)
  const { paths } = JSON.parse(readFileSync(file, 'utf8'))
  return Object.values(paths).flatMap(({ get }) => (get === undefined ? [] : [get.operationId]))
}

/** Throws when a read operation of the OpenAPI documents has no request here. */
export function allReads() {
  return surfaces.flatMap(({ name, document, base, operations }) => {
    const [known, given] = [described(document), Object.keys(operations)]
    const missing = known.filter((operation) => !given.includes(operation))
    const unknown = given.filter((operation) => !known.includes(operation))
    if (missing.length > 0)
      throw new Error(`bench/read-operations.mjs has no request for: ${missing.join(', ')} (${name})`)
    if (unknown.length > 0) throw new Error(`there is no read operation ${unknown.join(', ')} (${name})`)
    return Object.entries(operations).flatMap(([operation, requests]) =>
      Object.entries(requests).map(([label, request]) => {
        const { path, max, maxGrowth } = typeof request === 'function' ? { path: request } : request
        const isSession = name === 'web app'
        const suffix = label === '' ? '' : `, ${label}`
        const until = ['first bytes', 'response begins'].find((one) => label.endsWith(one)) ?? 'end'
        return { label: `${name} \`${operation}\`${suffix}`, path, base, isSession, until, max, maxGrowth }
      }),
    )
  })
}
