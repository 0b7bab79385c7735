import type { Asset } from '../../assets/asset.ts'
import { type Import, type ImportKind, errorPolicies, importKinds, importModes } from '../../bulk/import-row.ts'
import { boolean, id, instant, jsonObject, listOf, oneOf, object, text } from '../../http/validation/fields.ts'
import { described, nullable, optional } from '../../http/validation/schema.ts'
import { type Output, component } from '../../http/openapi/response-schema.ts'
import { type Instant, formatMillis } from '../../kernel/instant.ts'
import type { Location } from '../../locations/location.ts'
import { tagBody, tagDraftsField, descriptionField, keyField, nameField } from '../../records/fields.ts'
import type { BaseRecord } from '../../records/record.ts'
import type { HistoryLine } from '../../tracking/history/export.sql.ts'
import { timestamp } from './wire.ts'

/** The formats of bulk operations. They are the same on both surfaces, so that a file can be used with either. */

const count = { schema: { type: 'integer', format: 'int64', minimum: 0 }, parse: Number }
const message = text({ max: 4096 })

const draftState = {
  is_active: optional(boolean),
  valid_from: optional(instant),
  valid_to: optional(nullable(instant)),
  tags: optional(tagDraftsField),
}

const draftCore = {
  external_key: keyField,
  name: optional(described(nameField, 'Required when the row creates a record.')),
  description: optional(nullable(descriptionField)),
}

/** The rows of a request. The import validates them and reports problems by line. */
const BulkAssetRow = component(
  'BulkAssetRow',
  { ...draftCore, metadata: optional(described(jsonObject, 'Merged as by PATCH.')), ...draftState },
  { external_key: 'PJ-7', name: 'Pallet jack 7', tags: [{ tag_type: 'barcode', value: '4006381333931' }] },
)

const BulkLocationRow = component(
  'BulkLocationRow',
  { ...draftCore, parent_external_key: optional(nullable(keyField)), ...draftState },
  { external_key: 'HALL-A-1', name: 'Shelf 1', parent_external_key: 'HALL-A' },
)

const jobStates = ['waiting', 'running', 'done', 'failed'] as const

export const BulkJob = component(
  'BulkJob',
  {
    id: id,
    kind: oneOf(importKinds),
    state: described(
      oneOf(jobStates),
      'waiting: other jobs of the organization run first. done: the rows are applied, or only checked by a dry run. failed: nothing was changed.',
    ),
    mode: oneOf(importModes),
    dry_run: boolean,
    on_error: oneOf(errorPolicies),
    rows: described(count, 'The rows of the request.'),
    done_rows: described(count, 'The rows that are processed so far.'),
    created: count,
    updated: count,
    unchanged: count,
    failed: described(count, 'The rows with errors.'),
    errors_total: described(count, 'A row may have several errors.'),
    reason: described(nullable(message), 'Why the whole job failed.'),
    created_at: timestamp,
    finished_at: nullable(timestamp),
  },
  {
    id: 3390415586620914,
    kind: 'assets',
    state: 'done',
    mode: 'upsert',
    dry_run: false,
    on_error: 'skip',
    rows: 3,
    done_rows: 3,
    created: 1,
    updated: 1,
    unchanged: 0,
    failed: 1,
    errors_total: 1,
    reason: null,
    created_at: '2026-05-04T08:15:02.120Z',
    finished_at: '2026-05-04T08:15:03.200Z',
  },
)

/** The example of a job that was just started. */
export const startedJob = (kind: ImportKind): unknown => ({
  ...(BulkJob.example as object),
  ...{ kind, state: 'waiting', on_error: 'abort', done_rows: 0, created: 0, updated: 0, failed: 0, errors_total: 0 },
  finished_at: null,
})

export const BulkError = component(
  'BulkError',
  {
    line: described(
      count,
      'The line of the body, or the position in the JSON array; the first is 1. 0: the error concerns the whole job and is its `reason`.',
    ),
    field: described(message, 'Empty when the error concerns the whole row.'),
    message,
  },
  { line: 4, field: 'name', message: 'name is required' },
)

type Job = Import & { doneRows: number }

const publicStates: Record<Import['state'], (typeof jobStates)[number]> = {
  open: 'waiting',
  waiting: 'waiting',
  checking: 'running',
  running: 'running',
  checked: 'done',
  done: 'done',
  failed: 'failed',
}

export function presentJob(job: Job): Output<(typeof BulkJob)['shape']> {
  const state = publicStates[job.state]
  const hasEnded = state === 'done' || state === 'failed'
  // A failed run has changed nothing, whatever its valid rows would have done.
  const applied = state === 'failed' ? { creates: 0, updates: 0, unchanged: 0 } : job
  return {
    id: job.id,
    kind: job.kind,
    state,
    mode: job.mode,
    dry_run: job.isDryRun,
    on_error: job.onError,
    rows: job.rows,
    done_rows: job.doneRows,
    created: applied.creates,
    updated: applied.updates,
    unchanged: applied.unchanged,
    failed: job.failed,
    errors_total: job.errorsTotal,
    reason: reasonOf(job),
    created_at: formatMillis(job.createdAt),
    finished_at: hasEnded ? formatMillis(job.changedAt) : null,
  }
}

/** Errors of the whole job have the line 0. */
function reasonOf({ state, failed, errors }: Job): string | null {
  const whole = errors.find(({ line }) => line === 0)?.message
  if (whole !== undefined || state !== 'failed') return whole ?? null
  return `${failed} ${failed === 1 ? 'row has' : 'rows have'} errors; nothing was changed`
}

const tagOut = object({ id: id, ...tagBody })

const recordShape = {
  is_active: boolean,
  valid_from: timestamp,
  valid_to: nullable(timestamp),
  created_at: timestamp,
  updated_at: timestamp,
  tags: listOf(tagOut),
}

const recordExample: Output<typeof recordShape> = {
  is_active: true,
  valid_from: '2026-05-04T08:00:00.000Z',
  valid_to: null,
  created_at: '2026-05-04T08:00:00.000Z',
  updated_at: '2026-05-04T08:15:30.250Z',
  tags: [{ id: 6021874402113355, tag_type: 'rfid', value: 'E28011700000020A1B2C3D4E' }],
}

const formatOptional = (at: Instant | null): string | null => (at === null ? null : formatMillis(at))

const presentRecord = (one: BaseRecord): Output<typeof recordShape> => ({
  is_active: one.isActive,
  valid_from: formatMillis(one.validFrom),
  valid_to: formatOptional(one.validTo),
  created_at: formatMillis(one.createdAt),
  updated_at: formatMillis(one.updatedAt),
  tags: one.tags.map((tag) => ({ id: tag.id, tag_type: tag.type, value: tag.value })),
})

export const BulkAsset = component(
  'BulkAsset',
  {
    id: id,
    external_key: keyField,
    name: nameField,
    description: nullable(descriptionField),
    metadata: jsonObject,
    ...recordShape,
  },
  {
    id: 4503170118275611,
    external_key: 'PJ-7',
    name: 'Pallet jack 7',
    description: null,
    metadata: { owner: 'dock 3' },
    ...recordExample,
  },
)

export const presentAsset = (asset: Asset): Output<(typeof BulkAsset)['shape']> => ({
  id: asset.id,
  external_key: asset.externalKey,
  name: asset.name,
  description: asset.description,
  metadata: asset.metadata,
  ...presentRecord(asset),
})

export const BulkLocation = component(
  'BulkLocation',
  {
    id: id,
    external_key: keyField,
    name: nameField,
    description: nullable(descriptionField),
    parent_id: nullable(id),
    parent_external_key: nullable(keyField),
    ...recordShape,
  },
  {
    id: 7710249930581042,
    external_key: 'HALL-A',
    name: 'Hall A',
    description: null,
    parent_id: null,
    parent_external_key: null,
    ...recordExample,
    tags: [],
  },
)

export const presentLocation = (location: Location): Output<(typeof BulkLocation)['shape']> => ({
  id: location.id,
  external_key: location.externalKey,
  name: location.name,
  description: location.description,
  parent_id: location.parentId,
  parent_external_key: location.parentKey,
  ...presentRecord(location),
})

export const BulkHistoryRow = component(
  'BulkHistoryRow',
  {
    asset_id: id,
    asset_external_key: keyField,
    asset_name: nameField,
    event_observed_at: timestamp,
    location_external_key: nullable(keyField),
    location_name: nullable(nameField),
    duration_seconds: nullable(count),
  },
  {
    asset_id: 4503170118275611,
    asset_external_key: 'PJ-7',
    asset_name: 'Pallet jack 7',
    event_observed_at: '2026-05-04T08:15:02.120Z',
    location_external_key: 'DOCK-3',
    location_name: 'Dock 3',
    duration_seconds: 5402,
  },
)

export const presentHistory = (row: HistoryLine): Output<(typeof BulkHistoryRow)['shape']> => ({
  asset_id: row.assetId,
  asset_external_key: row.assetKey,
  asset_name: row.assetName,
  event_observed_at: formatMillis(row.observedAt),
  location_external_key: row.locationKey,
  location_name: row.locationName,
  duration_seconds: row.durationSeconds,
})

export const rowComponents = { assets: BulkAssetRow, locations: BulkLocationRow } satisfies Record<ImportKind, unknown>

export const bulkComponents = [
  BulkAssetRow,
  BulkLocationRow,
  BulkJob,
  BulkError,
  BulkAsset,
  BulkLocation,
  BulkHistoryRow,
]
