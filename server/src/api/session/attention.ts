import { failedImports } from '../../bulk/imports.sql.ts'
import { importKinds } from '../../bulk/import-row.ts'
import { boolean, id, listOf, oneOf, object } from '../../http/validation/fields.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { component, envelope } from '../../http/openapi/response-schema.ts'
import { formatMillis } from '../../kernel/instant.ts'
import { silentSince } from '../../readers/reader.ts'
import { listReaders } from '../../readers/readers.sql.ts'
import type { RecordDeps } from '../../records/record.ts'
import { listUnknownTags } from '../../tracking/unknown-tags.sql.ts'
import { isLatestAttemptFailed } from '../../webhooks/attempts.sql.ts'
import { timestamp } from '../shared/wire.ts'
import { integer } from './fields.ts'

export const AttentionOut = component(
  'Attention',
  {
    silent_readers: integer,
    unassigned_tags: integer,
    webhook_is_failing: boolean,
    failed_imports: listOf(object({ id: id, kind: oneOf(importKinds), failed_at: timestamp })),
  },
  { silent_readers: 0, unassigned_tags: 0, webhook_is_failing: false, failed_imports: [] },
)

const countOnly = { limit: 1, offset: 0 }

/** The problems that the overview page shows beside the counts of assets. */
export const attentionRoute = ({ db, clock }: RecordDeps): AnyRoute =>
  route({
    group: 'Overview and search',
    method: 'GET',
    access: 'session',
    scopes: ['tracking:read'],
    id: 'attention',
    path: '/attention',
    summary: 'Count what needs attention',
    description: 'Webhooks and imports are reported only to roles that may manage them.',
    success: { status: 200, description: 'Counts', schema: envelope(AttentionOut) },
    async handle({ principal: { orgId, scopes } }) {
      const silence = { isSilent: true, since: silentSince(clock.millis()) }
      const [readers, tags, isFailing, imports] = await Promise.all([
        listReaders(db.read, orgId, countOnly, silence),
        listUnknownTags(db.read, orgId, countOnly),
        scopes.has('webhooks:admin') ? isLatestAttemptFailed(db.read, orgId) : false,
        scopes.has('assets:write') ? failedImports(db.read, orgId) : [],
      ])
      return ok({
        data: {
          silent_readers: readers.total,
          unassigned_tags: tags.total,
          webhook_is_failing: isFailing,
          failed_imports: imports.map((one) => ({ id: one.id, kind: one.kind, failed_at: formatMillis(one.failedAt) })),
        },
      })
    },
  })
