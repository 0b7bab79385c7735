import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { passwordQueueLimits } from '../../src/app/server.ts'
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
import { flushTimeouts, lingerMs } from '../../src/http/response.ts'
import { headTimeoutMs } from '../../src/http/server.ts'
import {
  anonymousPacketMemory,
  maxConnectionsPerOrg,
  maxConnectionsPerReader,
  packetMemory,
} from '../../src/ingest/mqtt-broker.ts'
import { maxPacketBytes } from '../../src/ingest/mqtt-packet-guard.ts'
import { maxFamilies } from '../../src/auth/family-limit.ts'
import { MAX_READS } from '../../src/ingest/decoders/read.ts'
import { snapshotDownloadMs } from '../../src/api/shared/bulk.ts'
import { maxColumns } from '../../src/bulk/csv-table.ts'
import { maxErrorBytes, maxErrors, maxIdempotencyKeys, maxRows, maxUploadMebibytes } from '../../src/bulk/import-row.ts'
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
  ['refresh tokens of one API key', number(maxFamilies)],
  ['tags of an asset or a location', number(maxTagsPerRecord)],
  ['tags of a row, and of a record after', number(maxTagsPerRecord)],
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

/** Rows whose numbers other tests state. A new row belongs here only if the code has no constant for it. */
const statedElsewhere = [
  'request body',
  '`limit` of a list',
  '`name`',
  '`external_key`',
  '`description`',
  '`metadata` of an asset',
  'tag `value`',
  '`q` of a list',
  'tree of locations',
  'ids',
  'assets in an inventory save',
  'scan points of a reader',
  'codes in one request',
  'URL of a webhook',
  'access token, refresh token',
  'links to confirm an e-mail address',
  'failures of the token exchange',
  'wrong passwords of one account',
  'wrong passwords, links and refresh tokens',
  'requests for a link to reset',
  'valid tokens of one reader',
  'sessions of one user',
  'lifetime of a session',
  'assets whose location is set at once',
  'saved views',
  'invitations of one organization',
  'invitations to one address,',
  'name of the organization in a mail',
  'test events of one webhook',
  'new passwords',
  'events that wait for the client',
  'life of a live stream',
  'events that a live stream holds',
  'MQTT CONNECT packet',
  'MQTT messages with QoS 2',
  'one statement of a search',
  'one statement of any other',
  'one statement of an export',
  'temporary files',
  'memory of one sort',
  'wait for a record',
  'one statement of background work',
  'messages of readers that wait',
  'a page of a list or report',
  'a response that the client',
  'downloads and bulk uploads',
  'the external MQTT broker, or',
  'log lines that cannot',
  'log lines of refused',
  'a path, and a request id, in a log line;',
  'the message and the stack',
  'checks of the database for',
  'log of the embedded database',
  'rows of an import, in bytes',
  'a row without its metadata',
  'the metadata of a row',
  'imports of an organization that are checked',
  'imports that a process checks',
  '`Idempotency-Key`',
  'age of an import',
  'webhooks',
  'webhook attempts',
  'events that wait for delivery',
  'inbox:',
  'antennas without',
  'MQTT topics without',
  'imports',
  'sessions and refresh tokens',
  'API keys that are revoked',
  'invitations',
  'accounts whose e-mail address was not',
  'links to reset a password',
  'failed attempts',
  'rate limit buckets',
]

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
    expect(isKnown || statedElsewhere.some((what) => isFrom(row, what)), 'the row has an entry in this test').toBe(true)
  })

  it('has a row for each entry of this test', () => {
    const entries = [...constants.map(([what]) => what), ...statedElsewhere]
    expect(entries.filter((what) => !rows.some((row) => isFrom(row, what)))).toEqual([])
  })

  it('has no blank line within a table', () => {
    expect(page).not.toMatch(/^\|.*\n\n\|/m)
  })

  it('states which part of a body counts towards no budget', () => {
    expect(rows.find((row) => isFrom(row, 'bodies of requests'))!.what).toContain(`${uncountedBodyBytes / 1024} KiB`)
  })
})
