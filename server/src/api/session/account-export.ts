import { exportUser } from '../../accounts/user-export.ts'
import type { SessionDeps } from '../../accounts/sessions.ts'
import { type AnyRoute, route } from '../../http/route.ts'
import { apiError } from '../../kernel/errors.ts'
import { now } from '../../kernel/clock.ts'
import { formatMillis } from '../../kernel/instant.ts'
import { findUser, membershipsOf } from '../../users/users.sql.ts'

/** The signed-in user's own data. */
export function accountExportRoute(deps: Pick<SessionDeps, 'db' | 'clock'>): AnyRoute {
  return route({
    group: 'Sessions',
    id: 'auth.export',
    method: 'GET',
    path: '/auth/export',
    access: 'session',
    scopes: [],
    summary: 'Export everything that is stored about the signed-in user',
    description: `NDJSON: the account, the memberships, and in every organization of the user the sessions, saved views, API keys
that the user created, and notes that the user wrote. A file without the last line, \`{"end": true, …}\`, is incomplete.`,
    success: {
      status: 200,
      description: 'An NDJSON file',
      content: {
        'application/x-ndjson': {
          schema: { type: 'string' },
          example: '{"table":"memberships","row":{"org_id":5120770412839401,"role":"admin"}}\n',
        },
      },
    },
    async handle({ principal }) {
      const user = await findUser(deps.db.read, Number(principal.subject))
      if (user === null) throw apiError.unauthorized('Invalid or expired token')
      const orgIds = (await membershipsOf(deps.db.read, user.userId)).map(({ orgId }) => orgId)
      const chunks = exportUser(deps.db, { user, orgIds, exportedAt: formatMillis(now(deps.clock)) })
      return { status: 200, download: { type: 'application/x-ndjson', fileName: 'account.ndjson', chunks } }
    },
  })
}
