import {
  type StagedRow,
  importKinds,
  importStates,
  maxImportBytes,
  maxRows,
  unreadableRow,
} from '../../bulk/import-row.ts'
import type { ImportService } from '../../bulk/import-service.ts'
import { boolean, jsonObject, instant, listOf, oneOf, object, id, text } from '../../http/validation/fields.ts'
import { type AnyRoute, type Reply, noContent, ok, route } from '../../http/route.ts'
import { type Field, nullable, objectSchema, optional, reject, rejectType } from '../../http/validation/schema.ts'
import { type Output, component, envelope } from '../../http/openapi/response-schema.ts'
import { apiError } from '../../kernel/errors.ts'
import { type Json, inexactNumberPath } from '../../kernel/json.ts'
import { descriptionField, keyField, nameField, tagDraftsField } from '../../records/fields.ts'
import { jsonBody, integer } from './fields.ts'

export interface ImportDeps {
  imports: ImportService
}

/** Why a line of a file could not be read. */
const lineError = object({ field: text({ max: 4096 }), message: text({ max: 4096 }) })

/** The fields of a row, for the OpenAPI document. The import's check validates them and reports problems by line. */
const rowShape = {
  line: integer,
  error: optional(lineError),
  external_key: optional(keyField),
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
  parse(value, path, context) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return rejectType(context, path, 'object', value)
    const { line, error, ...content } = value as { [key: string]: Json }
    // Rows are stored as JSON until they are checked, which would change such a number.
    const inexact = inexactNumberPath(content, path)
    if (inexact !== null)
      return reject(context, {
        field: inexact,
        code: 'invalid_value',
        message: `${inexact} contains a number that cannot be stored exactly`,
      })
    if (typeof line === 'number' && Number.isSafeInteger(line) && line > 0) {
      if (error === undefined) return { line, content }
      const read = lineError.parse(error, `${path}.error`, context)
      return read === undefined ? undefined : unreadableRow({ line, ...read })
    }
    return reject(context, {
      field: `${path}.line`,
      code: 'invalid_value',
      message: `${path}.line must be a line number`,
    })
  },
}

const NewImport = component('NewImport', { id: id }, { id: 3390415586620914 })

const ImportOut = component(
  'Import',
  {
    id: id,
    kind: oneOf(importKinds),
    state: oneOf(importStates),
    rows: integer,
    creates: integer,
    updates: integer,
    unchanged: integer,
    errors_total: integer,
    errors: listOf(object({ line: integer, field: text({ max: 4096 }), message: text({ max: 4096 }) })),
    done_rows: integer,
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

const present = (importState: Awaited<ReturnType<ImportService['get']>>): Output<(typeof ImportOut)['shape']> => ({
  id: importState.id,
  kind: importState.kind,
  state: importState.state,
  rows: importState.rows,
  creates: importState.creates,
  updates: importState.updates,
  unchanged: importState.unchanged,
  errors_total: importState.errorsTotal,
  errors: importState.errors,
  done_rows: importState.doneRows,
})

const accepted: Reply = { status: 202 }

/** Imports of many records. An import requires the scopes of the records that it writes. */
export function importRoutes(deps: ImportDeps): AnyRoute[] {
  const common = { group: 'Imports', access: 'session', scopes: ['assets:write', 'locations:write'] } as const
  const item = {
    ...common,
    ids: ['import_id'],
    errorStatuses: [409],
    ensureExists: async (context: { principal: { orgId: number }; params: { import_id: number } }): Promise<void> => {
      await deps.imports.get(context.principal.orgId, context.params.import_id)
    },
  } as const
  return [
    route({
      ...common,
      id: 'imports.open',
      method: 'POST',
      path: '/imports',
      errorStatuses: [409],
      summary: 'Create an import',
      description:
        'An organization has a bounded number of imports. At the limit, a new import replaces an import that has ended or was idle for an hour; without such an import the request is 409.',
      body: jsonBody('ImportCreate', { kind: oneOf(importKinds) }, { kind: 'assets' }),
      success: { status: 201, description: 'The import, without rows', schema: envelope(NewImport) },
      async handle({ principal, body }) {
        return { status: 201, body: { data: { id: await deps.imports.create(principal.orgId, body.kind) } } }
      },
    }),
    route({
      ...item,
      errorStatuses: [],
      id: 'imports.get',
      method: 'GET',
      path: '/imports/{import_id}',
      summary: 'Get the state of an import',
      success: { status: 200, description: 'The import', schema: envelope(ImportOut) },
      async handle({ principal, params }) {
        return ok({ data: present(await deps.imports.get(principal.orgId, params.import_id)) })
      },
    }),
    route({
      ...item,
      id: 'imports.rows',
      method: 'POST',
      path: '/imports/{import_id}/rows',
      summary: 'Add rows; a row with the same line number is replaced',
      description: `The check reports a row with \`error\`, which stands for a line that could not be read, like a row with an invalid field. An import accepts any number of requests, at most ${maxRows} rows and ${maxImportBytes / 1024 / 1024} MiB in total.`,
      body: jsonBody(
        'ImportRows',
        { rows: listOf(row) },
        { rows: [{ line: 2, external_key: 'PJ-7', name: 'Pallet jack' }] },
      ),
      success: { status: 204, description: 'Added' },
      async handle({ principal, params, body }) {
        rejectDuplicateLines(body.rows)
        await deps.imports.addRows(principal.orgId, params.import_id, body.rows)
        return noContent
      },
    }),
    route({
      ...item,
      id: 'imports.check',
      method: 'POST',
      path: '/imports/{import_id}/check',
      summary: 'Validate the rows and count the changes they would make',
      description: 'An organization checks or runs one import at a time; its other imports are `waiting` meanwhile.',
      success: { status: 202, description: 'Started' },
      async handle({ principal, params }) {
        await deps.imports.check(principal.orgId, params.import_id)
        return accepted
      },
    }),
    route({
      ...item,
      id: 'imports.run',
      method: 'POST',
      path: '/imports/{import_id}/run',
      summary: 'Apply all rows or none; with skip_errors, apply the valid rows',
      body: jsonBody('ImportRun', { skip_errors: boolean }, { skip_errors: false }),
      success: { status: 202, description: 'Started' },
      async handle({ principal, params, body }) {
        await deps.imports.run(principal.orgId, params.import_id, { skipErrors: body.skip_errors })
        return accepted
      },
    }),
    route({
      ...item,
      id: 'imports.delete',
      method: 'DELETE',
      path: '/imports/{import_id}',
      summary: 'Delete an import',
      success: { status: 204, description: 'Deleted' },
      async handle({ principal, params }) {
        await deps.imports.remove(principal.orgId, params.import_id)
        return noContent
      },
    }),
  ]
}

function rejectDuplicateLines(rows: readonly StagedRow[]): void {
  const lines = new Set<number>()
  rows.forEach(({ line }, index) => {
    if (lines.has(line)) {
      const field = `rows[${index}].line`
      throw apiError.invalid({
        field,
        code: 'invalid_value',
        message: `${field} appears more than once in the request`,
      })
    }
    lines.add(line)
  })
}
