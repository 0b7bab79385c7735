import { type StagedRow, importKinds, importStates, maxImportBytes, maxRows } from '../../bulk/import-row.ts'
import type { ImportService } from '../../bulk/import-service.ts'
import { boolean, jsonObject, instant, listOf, oneOf, record, id, text } from '../../http/validation/fields.ts'
import { type AnyRoute, type Reply, noContent, ok, route } from '../../http/route.ts'
import { type Field, nullable, objectSchema, optional, reject, rejectType } from '../../http/validation/schema.ts'
import { type Output, component, envelope } from '../../http/openapi/response-schema.ts'
import { apiError } from '../../kernel/errors.ts'
import { type Json, inexactNumberPath } from '../../kernel/json.ts'
import { descriptionField, keyField, nameField, tagDraftsField } from '../../records/fields.ts'
import { json, whole } from './fields.ts'

export interface ImportDeps {
  imports: ImportService
}

/** What a row may hold; what is wrong with it is told by the check, line by line, and not here. */
const rowShape = {
  line: whole,
  external_key: keyField,
  name: optional(nameField),
  description: optional(nullable(descriptionField)),
  metadata: optional(jsonObject),
  parent_external_key: optional(nullable(keyField)),
  is_active: optional(boolean),
  valid_from: optional(instant),
  valid_to: optional(nullable(instant)),
  tags: optional(tagDraftsField),
}

const row: Field<StagedRow> = {
  schema: objectSchema(rowShape),
  parse(value, at, report) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return rejectType(report, at, 'object', value)
    const { line, ...content } = value as { [key: string]: Json }
    // Rows are kept as JSON until they are checked, and would lose such a number.
    const inexact = inexactNumberPath(content, at)
    if (inexact !== null)
      return reject(report, {
        field: inexact,
        code: 'invalid_value',
        message: `${inexact} is a number that cannot be stored exactly`,
      })
    if (typeof line === 'number' && Number.isSafeInteger(line) && line > 0) return { line, content }
    return reject(report, { field: `${at}.line`, code: 'invalid_value', message: `${at}.line must be a line number` })
  },
}

const NewImport = component('NewImport', { id: id }, { id: 3390415586620914 })

const ImportOut = component(
  'Import',
  {
    id: id,
    kind: oneOf(importKinds),
    state: oneOf(importStates),
    rows: whole,
    creates: whole,
    updates: whole,
    unchanged: whole,
    errors_total: whole,
    errors: listOf(record({ line: whole, field: text({ max: 4096 }), message: text({ max: 4096 }) })),
    done_rows: whole,
  },
  {
    id: 3390415586620914,
    kind: 'assets',
    state: 'checked',
    rows: 3,
    creates: 1,
    updates: 1,
    unchanged: 0,
    errors_total: 1,
    errors: [{ line: 4, field: 'name', message: 'name is required' }],
    done_rows: 3,
  },
)

export const importComponents = [NewImport, ImportOut]

const present = (one: Awaited<ReturnType<ImportService['get']>>): Output<(typeof ImportOut)['shape']> => ({
  id: one.id,
  kind: one.kind,
  state: one.state,
  rows: one.rows,
  creates: one.creates,
  updates: one.updates,
  unchanged: one.unchanged,
  errors_total: one.errorsTotal,
  errors: one.errors,
  done_rows: one.doneRows,
})

const accepted: Reply = { status: 202 }

/** Bringing in many rows at once. An import asks for the scope of what it writes. */
export function importRoutes(deps: ImportDeps): AnyRoute[] {
  const common = { group: 'Imports', access: 'session', scopes: ['assets:write', 'locations:write'] } as const
  const one = {
    ...common,
    ids: ['import_id'],
    errorStatuses: [409],
    ensureExists: async (call: { principal: { orgId: number }; params: { import_id: number } }): Promise<void> => {
      await deps.imports.get(call.principal.orgId, call.params.import_id)
    },
  } as const
  return [
    route({
      ...common,
      id: 'imports.open',
      method: 'POST',
      path: '/imports',
      errorStatuses: [409],
      summary: 'Begin an import',
      description:
        'An organization has a bounded number of imports. At the limit, a new import replaces one that has ended or was idle for an hour; without such an import the request is 409.',
      body: json('ImportCreate', { kind: oneOf(importKinds) }, { kind: 'assets' }),
      success: { status: 201, description: 'The import, without rows', schema: envelope(NewImport) },
      async handle({ principal, body }) {
        return { status: 201, body: { data: { id: await deps.imports.create(principal.orgId, body.kind) } } }
      },
    }),
    route({
      ...one,
      errorStatuses: [],
      id: 'imports.get',
      method: 'GET',
      path: '/imports/{import_id}',
      summary: 'How far an import is',
      success: { status: 200, description: 'The import', schema: envelope(ImportOut) },
      async handle({ principal, params }) {
        return ok({ data: present(await deps.imports.get(principal.orgId, params.import_id)) })
      },
    }),
    route({
      ...one,
      id: 'imports.rows',
      method: 'POST',
      path: '/imports/{import_id}/rows',
      summary: 'Add rows; a line that comes again replaces itself',
      description: `As many requests as it takes, ${maxRows} rows and ${maxImportBytes / 1024 / 1024} MiB at most.`,
      body: json(
        'ImportRows',
        { rows: listOf(row) },
        { rows: [{ line: 2, external_key: 'PJ-7', name: 'Pallet jack' }] },
      ),
      success: { status: 204, description: 'Added' },
      async handle({ principal, params, body }) {
        refuseTwice(body.rows)
        await deps.imports.addRows(principal.orgId, params.import_id, body.rows)
        return noContent
      },
    }),
    route({
      ...one,
      id: 'imports.check',
      method: 'POST',
      path: '/imports/{import_id}/check',
      summary: 'Say what the rows would do',
      description: 'One import of an organization is checked or run at a time; the others are `waiting` meanwhile.',
      success: { status: 202, description: 'Begun' },
      async handle({ principal, params }) {
        await deps.imports.check(principal.orgId, params.import_id)
        return accepted
      },
    }),
    route({
      ...one,
      id: 'imports.run',
      method: 'POST',
      path: '/imports/{import_id}/run',
      summary: 'Do what the rows say, all or nothing; with skip_errors all that are good',
      body: json('ImportRun', { skip_errors: boolean }, { skip_errors: false }),
      success: { status: 202, description: 'Begun' },
      async handle({ principal, params, body }) {
        await deps.imports.run(principal.orgId, params.import_id, { skipErrors: body.skip_errors })
        return accepted
      },
    }),
    route({
      ...one,
      id: 'imports.delete',
      method: 'DELETE',
      path: '/imports/{import_id}',
      summary: 'Forget an import',
      success: { status: 204, description: 'Forgotten' },
      async handle({ principal, params }) {
        await deps.imports.remove(principal.orgId, params.import_id)
        return noContent
      },
    }),
  ]
}

/** One request cannot say two things about one line. */
function refuseTwice(rows: readonly StagedRow[]): void {
  const seen = new Set<number>()
  rows.forEach(({ line }, at) => {
    if (seen.has(line)) {
      const field = `rows[${at}].line`
      throw apiError.invalid({ field, code: 'invalid_value', message: `${field} stands in the request twice` })
    }
    seen.add(line)
  })
}
