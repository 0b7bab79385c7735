import {
  type Table,
  assetRows,
  assetTable,
  historyRows,
  historyTable,
  locationRows,
  locationTable,
  moveRows,
  moveTable,
  toCsv,
  toNdjson,
} from '../../bulk/exports.ts'
import {
  type ImportKind,
  errorPolicies,
  importModes,
  maxErrorBytes,
  maxErrors,
  maxRows,
  maxUploadMebibytes,
} from '../../bulk/import-row.ts'
import type { ImportService } from '../../bulk/import-service.ts'
import { hashed, uploadTypes, uploadedRows } from '../../bulk/upload-rows.ts'
import type { Database, Db } from '../../db/database.ts'
import { inSnapshot } from '../../db/snapshot.ts'
import {
  type Component,
  envelope,
  envelopeExample,
  pageExample,
  pageOf,
  refTo,
} from '../../http/openapi/response-schema.ts'
import type { Principal } from '../../http/principal.ts'
import { type AnyRoute, type Content, type Reply, ok, route } from '../../http/route.ts'
import { booleanParam, choiceParam } from '../../http/validation/parameters.ts'
import { apiError } from '../../kernel/errors.ts'
import {
  BulkAsset,
  BulkError,
  BulkHistoryRow,
  BulkJob,
  BulkLocation,
  presentAsset,
  presentHistory,
  presentJob,
  presentLocation,
  rowComponents,
  startedJob,
} from './bulk-wire.ts'
import { MoveOut, presentMove } from './moves.ts'
import { listBody, paging, span } from './wire.ts'

export interface BulkDeps {
  db: Database
  imports: ImportService
}

const [ndjson, json, csv] = uploadTypes

const csvSamples: Record<ImportKind, string> = {
  assets: 'external_key,name,tags\r\nPJ-7,Pallet jack 7,barcode:4006381333931\r\n',
  locations: 'external_key,name,parent_external_key\r\nHALL-A-1,Shelf 1,HALL-A\r\n',
}

const idempotencyHeader = {
  name: 'Idempotency-Key',
  description:
    '1 to 255 visible ASCII characters. For 24 hours, the same request with the same key returns the same job; another request with the key is 409.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

function idempotencyKeyOf(text: string | undefined): string | null {
  if (text === undefined) return null
  if (/^[\x21-\x7e]{1,255}$/.test(text)) return text
  const { name } = idempotencyHeader
  const message = `${name} must have 1 to 255 visible ASCII characters`
  throw apiError.invalid({ field: name, code: 'invalid_value', message })
}

const dryRunParam = {
  ...booleanParam,
  schema: { ...booleanParam.schema, default: false },
  fallback: false,
  description: 'Whether the job only checks the rows and reports what it would do.',
} as const

function importRoute(deps: BulkDeps, base: string, kind: ImportKind, path: `/bulk/${string}`): AnyRoute {
  const row = rowComponents[kind] as Component
  return route({
    id: `bulk.${kind}.import`,
    method: 'POST',
    path,
    group: 'Bulk',
    access: 'any',
    scopes: [`${kind}:write`],
    summary: `Create and update many ${kind}`,
    description: `Starts a job that applies the rows by \`external_key\`, in one transaction. A body has at most ${maxUploadMebibytes} MiB and ${maxRows} rows: one JSON object per line, a JSON array of objects, or a CSV file. The rules and the columns are those of the web app's import; read-only fields of exports are ignored. With \`on_error=abort\`, a row with an error fails the job and nothing is changed; with \`skip\`, the other rows are applied. A dry run only checks the rows.`,
    query: {
      parameters: {
        mode: choiceParam(importModes, 'upsert', 'Whether rows may create records, update existing ones, or both.'),
        dry_run: dryRunParam,
        on_error: choiceParam(errorPolicies, 'abort', 'What a row with an error does.'),
      },
    },
    headers: [idempotencyHeader],
    upload: {
      maxMebibytes: maxUploadMebibytes,
      content: {
        [ndjson]: { schema: refTo(row), example: row.example },
        [json]: { schema: { type: 'array', items: refTo(row) }, example: [row.example] },
        [csv]: { schema: { type: 'string' }, example: csvSamples[kind] },
      },
    },
    success: {
      status: 202,
      description: 'The job',
      location: 'Path of the job.',
      schema: envelope(BulkJob),
      example: { data: startedJob(kind) },
    },
    errorStatuses: [409],
    async handle({ principal: { orgId }, query, header, upload }) {
      const idempotencyKey = idempotencyKeyOf(header(idempotencyHeader.name))
      const { mode, dry_run: isDryRun, on_error: onError } = query
      const { mediaType, chunks } = upload!
      const body = hashed(chunks, `${kind} ${mode} ${isDryRun} ${onError} ${mediaType}\n`)
      const request = { kind, mode, isDryRun, onError, idempotencyKey }
      const rows = uploadedRows(kind, mediaType, body.chunks)
      const id = await deps.imports.submit(orgId, request, rows, body.digest)
      const job = presentJob(await deps.imports.get(orgId, id))
      return { status: 202, body: { data: job }, headers: { Location: `${base}/bulk/jobs/${id}` } }
    },
  })
}

function jobRoutes({ imports }: BulkDeps): AnyRoute[] {
  const common = {
    method: 'GET',
    group: 'Bulk',
    access: 'any',
    scopes: ['assets:write', 'locations:write'],
    needsAnyScope: true,
    ids: ['job_id'],
  } as const
  const find = async ({ orgId, scopes }: Principal, id: number) => {
    const job = await imports.get(orgId, id)
    const scope = `${job.kind}:write`
    if (!scopes.has(scope)) throw apiError.missingScope(scope)
    return job
  }
  const scopeText =
    'One of the two scopes suffices: a job of assets requires `assets:write`, a job of locations `locations:write`.'
  return [
    route({
      ...common,
      id: 'bulk.jobs.get',
      path: '/bulk/jobs/{job_id}',
      summary: 'Get the state, counts and progress of a bulk job',
      description: `Jobs are kept for a day. ${scopeText}`,
      success: { status: 200, description: 'The job', schema: envelope(BulkJob), example: envelopeExample(BulkJob) },
      async handle({ principal, params }) {
        return ok({ data: presentJob(await find(principal, params.job_id)) })
      },
    }),
    route({
      ...common,
      id: 'bulk.jobs.errors',
      path: '/bulk/jobs/{job_id}/errors',
      summary: 'List the errors of a bulk job by line',
      description: `The first ${maxErrors} errors, up to ${maxErrorBytes / 1024 / 1024} MiB. ${scopeText}`,
      query: { parameters: paging },
      success: {
        status: 200,
        description: 'A page of errors',
        schema: pageOf(BulkError),
        example: pageExample(BulkError),
      },
      async handle({ principal, params, query }) {
        await find(principal, params.job_id)
        const page = await imports.errors(principal.orgId, params.job_id, query)
        return ok(listBody(page, query, (error) => error))
      },
    }),
  ]
}

const formats = ['ndjson', 'csv'] as const
type Format = (typeof formats)[number]

/** The first media type of the Accept header that an export has; NDJSON when it names none. */
function acceptedFormat(accept: string | undefined): Format {
  const types = (accept ?? '').split(',').map((part) => part.split(';')[0]!.trim().toLowerCase())
  return types.find((type) => type === csv || type === ndjson) === csv ? 'csv' : 'ndjson'
}

interface Export<Row> {
  name: string
  path: `/bulk/${string}`
  scope: string
  summary: string
  description: string
  out: Component
  present: (row: Row) => object
  table: Table<Row>
  csvSample: string
}

const formatParam = choiceParam(formats, undefined, 'Without it, the Accept header decides; NDJSON is the default.')
/** While a snapshot is open, the database cannot remove old versions of rows. */
export const snapshotDownloadMs = 1_800_000
const snapshotText =
  'All rows are of one snapshot: changes during the download are not seen. If the export fails midway, the server breaks the connection, so a response that ends normally is complete.'

/** An export, generated while it is sent. */
function exportRoute<Row>(
  deps: BulkDeps,
  { name, path, scope, summary, description, out, present, table, csvSample }: Export<Row>,
  parameters: object,
  read: (db: Db, orgId: number, query: never) => AsyncIterable<Row[]>,
): AnyRoute {
  const content: Content = {
    [ndjson]: { schema: refTo(out), example: out.example },
    [csv]: { schema: { type: 'string' }, example: csvSample },
  }
  return route({
    id: `bulk.${name}.export`,
    method: 'GET',
    path,
    group: 'Bulk',
    access: 'any',
    scopes: [scope],
    summary,
    description: `${description} ${snapshotText}`,
    query: { parameters: { format: formatParam, ...parameters } },
    success: { status: 200, description: 'One JSON object per line, or a CSV file', content },
    async handle({ principal: { orgId }, query, header }): Promise<Reply> {
      const format = (query as { format?: Format }).format ?? acceptedFormat(header('Accept'))
      const rows = inSnapshot(deps.db, orgId, (tx) => read(tx, orgId, query as never))
      const file =
        format === 'csv'
          ? { type: `${csv}; charset=utf-8`, fileName: `${name}.csv`, chunks: toCsv(table, rows) }
          : { type: ndjson, chunks: toNdjson(present, rows) }
      return { status: 200, download: { ...file, maxMs: snapshotDownloadMs } }
    },
  })
}

/** Many records in one request. The formats are the same on both surfaces. */
export const bulkRoutes = (deps: BulkDeps, base: string): AnyRoute[] => [
  importRoute(deps, base, 'assets', '/bulk/assets'),
  importRoute(deps, base, 'locations', '/bulk/locations'),
  ...jobRoutes(deps),
  exportRoute(
    deps,
    {
      name: 'assets',
      path: '/bulk/assets',
      scope: 'assets:read',
      summary: 'Export all assets',
      description: 'Every live asset, whether it is valid now or not, by id.',
      out: BulkAsset,
      present: presentAsset,
      table: assetTable,
      csvSample: csvSamples.assets,
    },
    {},
    (db, orgId) => assetRows(db, orgId),
  ),
  exportRoute(
    deps,
    {
      name: 'locations',
      path: '/bulk/locations',
      scope: 'locations:read',
      summary: 'Export all locations',
      description: 'Every live location, whether it is valid now or not, by id.',
      out: BulkLocation,
      present: presentLocation,
      table: locationTable,
      csvSample: csvSamples.locations,
    },
    {},
    locationRows,
  ),
  exportRoute(
    deps,
    {
      name: 'history',
      path: '/bulk/history',
      scope: 'tracking:read',
      summary: 'Export the location history of all assets',
      description:
        'One row per recorded minute of every live asset, by asset and time; deleted assets are left out. `from` and `to` are inclusive. A download takes half an hour at most: export a long history in periods.',
      out: BulkHistoryRow,
      present: presentHistory,
      table: historyTable,
      csvSample: `${historyTable.columns.join(',')}\r\n`,
    },
    span,
    historyRows,
  ),
  exportRoute(
    deps,
    {
      name: 'moves',
      path: '/bulk/moves',
      scope: 'tracking:read',
      summary: 'Export all moves',
      description: 'Every move, oldest first. `from` and `to` are inclusive and compared with `occurred_at`.',
      out: MoveOut,
      present: presentMove,
      table: moveTable,
      csvSample: `${moveTable.columns.join(',')}\r\n`,
    },
    span,
    moveRows,
  ),
]
