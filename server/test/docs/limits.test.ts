import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { maxDownloads, passwordQueueLimits } from '../../src/app/server.ts'
import { messageTimeoutMs } from '../../src/app/tracking.ts'
import { defaultTimeoutMs } from '../../src/db/create-database.ts'
import { maxReplayedMoves } from '../../src/tracking/live-feed.ts'
import { downloadLimits } from '../../src/http/streamed-response.ts'
import { minBytesPerSecond } from '../../src/http/transfer-timeout.ts'
import {
  anonymousBodyMemory,
  bodyMemory,
  defaultBodyTimeouts,
  uncountedBodyBytes,
  uploadGraceMs,
} from '../../src/http/body.ts'
import { pageMemory } from '../../src/http/page-serializer.ts'
import { flushTimeouts, lingerMs } from '../../src/http/response.ts'
import { maxSmallChunks } from '../../src/http/incoming-request.ts'
import { headTimeoutMs } from '../../src/http/server.ts'
import {
  anonymousPacketMemory,
  maxConnectionsPerOrg,
  maxConnectionsPerReader,
  packetMemory,
} from '../../src/ingest/mqtt-broker.ts'
import { maxPacketBytes } from '../../src/ingest/mqtt-packet-guard.ts'
import { maxFamilies } from '../../src/auth/family-limit.ts'
import { maxEntries } from '../../src/ingest/reader-refusals.ts'
import { maxAntennas, maxTopics } from '../../src/readers/unknown.sql.ts'
import { MAX_READS } from '../../src/ingest/decoders/read.ts'
import { snapshotDownloadMs } from '../../src/api/shared/bulk.ts'
import { maxColumns } from '../../src/bulk/csv-table.ts'
import {
  maxErrorBytes,
  maxErrors,
  maxIdempotencyKeys,
  maxImportTags,
  maxRows,
  maxUploadMebibytes,
} from '../../src/bulk/import-row.ts'
import { maxReportRows } from '../../src/tracking/report/dwell-and-flow.sql.ts'
import { maxNotesPerPage, maxNotesPerStay } from '../../src/tracking/history/stays.sql.ts'
import { maxTagsPerRecord } from '../../src/tags/tag.ts'
import { snapshotPoolSize } from '../../src/db/database.ts'
import { readConfig } from '../../src/config/config.ts'
import { settings } from '../../src/config/settings.ts'
import { repository } from '../support/process.ts'

const page = readFileSync(join(repository, 'docs/limits.md'), 'utf8')
const [, ...tables] = page.slice(page.indexOf('## Other limits')).split(/^\| what \|.*\n\|[-| ]+\|\n/m)

interface Row {
  what: string
  limit: string
  setting: string
}

const rows: Row[] = tables.flatMap((table) =>
  table
    .slice(0, table.search(/^(?!\|)/m))
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [what = '', limit = '', setting = ''] = line
        .slice(1)
        .split('|')
        .map((cell) => cell.trim())
      return { what, limit, setting }
    }),
)

const number = (value: number): string => value.toLocaleString('en-US')
const mebibytes = (bytes: number): string => `${bytes / 2 ** 20} MiB`
const memory = ({ maxBytes, maxBytesPerTenant }: typeof bodyMemory, tenant: string): string =>
  `${mebibytes(maxBytesPerTenant)} for one ${tenant}, ${mebibytes(maxBytes)} in total`
const seconds = (ms: number): string => `${ms / 1000} seconds, and a second for each ${minBytesPerSecond / 1024} KiB`

const { maxInFlight, maxWaitingPerTenant, maxWaiting, timeoutMs } = passwordQueueLimits
const passwordQueueText =
  `${maxInFlight} in flight per process; ${maxWaitingPerTenant} wait for one client address and ${maxWaiting} in total, ` +
  `for at most ${timeoutMs / 1000} seconds`

/** The beginning of a row, and a text that its limit must contain. */
const constants: [what: string, text: string][] = [
  ['chunks of a request body', number(maxSmallChunks)],
  ['reads in a message of a reader', number(MAX_READS)],
  ['moves that a live stream sends again', number(maxReplayedMoves)],
  ['MQTT connections of one reader, and of', `${maxConnectionsPerReader}, and ${number(maxConnectionsPerOrg)}`],
  ['other MQTT packets', mebibytes(maxPacketBytes)],
  ['MQTT packets that have begun', memory(packetMemory, 'organization')],
  ['the same before the login', memory(anonymousPacketMemory, 'client address')],
  ['bodies of requests that arrive', memory(bodyMemory, 'organization')],
  ['the same for anonymous requests', memory(anonymousBodyMemory, 'client address')],
  ['a download', `${downloadLimits.maxMs / 3_600_000} hour; ${snapshotDownloadMs / 60_000} minutes`],
  ['waiting for the client of a download, in all', seconds(downloadLimits.graceMs)],
  ['waiting for the client of a bulk upload, in all', seconds(uploadGraceMs)],
  ['body of a bulk request', `${maxUploadMebibytes} MiB`],
  ['rows of an import', number(maxRows)],
  ['errors that an import keeps', `${number(maxErrors)}, ${mebibytes(maxErrorBytes)}`],
  ['columns of a CSV file', number(maxColumns)],
  ['requests that hash a password', passwordQueueText],
  ['a batch of reads that waits', `${messageTimeoutMs / 1000} seconds`],
  ['wait of a transaction, a search or a report', `${defaultTimeoutMs / 1000} seconds`],
  ['refresh tokens of one API key', number(maxFamilies)],
  ['tags of an asset or a location', number(maxTagsPerRecord)],
  ['tags of a row, and of a record after', number(maxTagsPerRecord)],
  ['tags that an import', number(maxImportTags)],
  ['notes that the history', `${maxNotesPerStay} of a stay, and ${number(maxNotesPerPage)} of a page`],
  ['large responses that are', memory(pageMemory, 'organization')],
  ['downloads and bulk uploads', `${maxDownloads}, of which one organization has at most ${(3 * maxDownloads) / 4}`],
  ['log lines of refused', `${number(maxEntries)} readers and addresses`],
  ['antennas without', `${maxAntennas} per reader`],
  ['MQTT topics without', `${maxTopics} in the installation`],
  ['rows of a report per', number(maxReportRows)],
  ['idempotency keys of an organization', number(maxIdempotencyKeys)],
  [
    'time for an HTTP request',
    `${headTimeoutMs / 1000} s for the head, ${defaultBodyTimeouts.requestMs / 1000} s in total`,
  ],
  [
    'time for the body of a bulk request',
    `${defaultBodyTimeouts.uploadMs / 60_000} minutes; at most ${defaultBodyTimeouts.uploadStalledMs / 1000} s`,
  ],
  ['time for a client to close', `${lingerMs / 1000} s`],
  // A connection that made progress within the period gets another one.
  [
    'a client that receives nothing',
    `${flushTimeouts.stalledMs / 1000} to ${(2 * flushTimeouts.stalledMs) / 1000} seconds`,
  ],
  ['time to receive a whole response', `${flushTimeouts.totalMs / 60_000} minutes`],
  ['exports of the API', `${snapshotPoolSize}, of which one organization has at most ${(3 * snapshotPoolSize) / 4}`],
]

/** Rows without a constant in the code, and the test of each bound. */
const testedBounds: Record<string, string> = {
  'request body': 'contract/http/body-size',
  '`limit` of a list': 'http/parameters',
  '`name`': 'contract/primary/assets/patch',
  '`external_key`': 'contract/primary/assets/rename',
  '`description`': 'contract/primary/assets/fields',
  '`metadata` of an asset': 'contract/primary/assets/metadata-size',
  'tag `value`': 'contract/primary/locations/tags',
  '`q` of a list': 'contract/primary/lists/search',
  'tree of locations': 'contract/primary/locations/tree-depth',
  ids: 'contract/http/path-ids',
  'assets in an inventory save': 'contract/natural-key/tracking',
  'scan points of a reader': 'contract/tracking/reader-limits',
  'codes in one request': 'contract/overview/search',
  'URL of a webhook': 'contract/webhooks/registration',
  'access token, refresh token': 'contract/auth/oauth-token',
  'links to confirm an e-mail address': 'contract/accounts/email-confirmation',
  'failures of the token exchange': 'contract/auth/throttle',
  'wrong passwords of one account': 'contract/auth/login-throttle',
  'wrong passwords, links and refresh tokens': 'contract/auth/login-throttle',
  'requests for a link to reset': 'contract/accounts/limits',
  'valid tokens of one reader': 'contract/tracking/ingest-tokens',
  'sessions of one user': 'contract/accounts/limits',
  'lifetime of a session': 'contract/accounts/limits',
  'assets whose location is set at once': 'contract/overview/sighting-notes',
  'saved views': 'contract/accounts/saved-views',
  'invitations of one organization': 'contract/accounts/limits',
  'invitations to one address,': 'contract/accounts/limits',
  'name of the organization in a mail': 'contract/accounts/limits',
  'test events of one webhook': 'contract/webhooks/test-event',
  'new passwords': 'contract/accounts/new-passwords',
  'events that wait for the client': 'contract/tracking/live-limits',
  'life of a live stream': 'contract/auth/open-connections',
  'events that a live stream holds': 'tracking/replay',
  'MQTT CONNECT packet': 'ingest/mqtt-broker-connections',
  'MQTT messages with QoS 2': 'ingest/mqtt-broker-connections',
  'one statement of a search': 'db/timeouts',
  'one statement of any other': 'db/timeouts',
  'one statement of an export': 'db/timeouts',
  'temporary files': 'db/temporary-files',
  'memory of one sort': 'db/temporary-files',
  'wait for a record': 'db/timeouts',
  'one statement of background work': 'db/timeouts',
  'messages of readers that wait': 'ingest/batch-writer',
  'a page of a list or report': 'http/parameters',
  'a batch of records of an export': 'contract/bulk/exports',
  'a response that the client': 'http/slow-clients',
  'the external MQTT broker, or': 'app/readiness',
  'log lines that cannot': 'process/log-lost',
  'a path, and a request id, in a log line;': 'app/bug-log',
  'the message and the stack': 'app/bug-log',
  'checks of the database for': 'app/readiness-flood',
  'log of the embedded database': 'embedded-postgres/log-rotation',
  'rows of an import, in bytes': 'contract/bulk/import-limits',
  'a row without its metadata': 'contract/bulk/import-limits',
  'the metadata of a row': 'contract/bulk/import-limits',
  'imports of an organization that are checked': 'contract/bulk/import-limits',
  'imports that a process checks': 'contract/bulk/import-limits',
  '`Idempotency-Key`': 'contract/bulk/bulk-import',
  'age of an import': 'contract/bulk/import-limits',
  webhooks: 'contract/webhooks/registration',
  'webhook attempts': 'contract/webhooks/test-event',
  'events that wait for delivery': 'webhooks/dropping',
  'inbox:': 'contract/tracking/inbox',
  imports: 'contract/bulk/import-limits',
  'sessions and refresh tokens': 'jobs/retention',
  'API keys that are revoked': 'jobs/retention',
  invitations: 'jobs/retention',
  'accounts whose e-mail address was not': 'jobs/retention',
  'links to reset a password': 'contract/accounts/passwords',
  'failed attempts': 'jobs/housekeeping',
  'rate limit buckets': 'jobs/housekeeping',
}

const config = readConfig({})
/** The default of each setting, as the page writes it. Settings whose default is not a number are compared by a text. */
const defaults = new Map<string, string>(
  Object.entries(settings).map(([key, { name }]) => {
    const value: unknown = config[key as keyof typeof config]
    return [name, typeof value === 'number' ? number(value) : '']
  }),
)
const isFrom = (row: Row, what: string): boolean => row.what === what || row.what.startsWith(`${what} `)

describe('The page of limits', () => {
  it.each(rows)('states a number of the code: $what', (row) => {
    const entries = constants.filter(([what]) => isFrom(row, what))
    for (const [, text] of entries.slice(-1)) expect(row.limit).toContain(text)
    const name = /^`(LASTSEEN_\w+)`$/.exec(row.setting)?.[1]
    // Other pages state what follows from the size of the pool.
    if (name !== undefined && name !== 'LASTSEEN_DATABASE_POOL') {
      expect(defaults.has(name), name).toBe(true)
      expect(row.limit).toContain(defaults.get(name))
    }
    const isKnown = entries.length > 0 || row.setting.startsWith('`') || row.setting.startsWith('[')
    expect(
      isKnown || Object.keys(testedBounds).some((what) => isFrom(row, what)),
      'the row has an entry in this test',
    ).toBe(true)
  })

  it('has a row for each entry of this test', () => {
    const entries = [...constants.map(([what]) => what), ...Object.keys(testedBounds)]
    expect(entries.filter((what) => !rows.some((row) => isFrom(row, what)))).toEqual([])
  })

  it('names existing tests of the bounds', () => {
    const files = Object.values(testedBounds).map((name) => join(repository, 'server/test', `${name}.test.ts`))
    expect(files.filter((file) => !existsSync(file))).toEqual([])
  })

  it('has no blank line within a table', () => {
    expect(page).not.toMatch(/^\|.*\n\n\|/m)
  })

  it('states which part of a body counts towards no budget', () => {
    expect(rows.find((row) => isFrom(row, 'bodies of requests'))!.what).toContain(`${uncountedBodyBytes / 1024} KiB`)
  })
})
