import { oneOf } from '../../http/validation/fields.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { component, arrayOf } from '../../http/openapi/response-schema.ts'
import type { OpenStreams } from '../../auth/open-streams.ts'
import { type QuotaName, quotaNames } from '../../kernel/quota.ts'
import type { Quotas } from '../../organizations/quotas.ts'
import { integer } from './fields.ts'

export interface QuotaDeps {
  quotas: Quotas
  streams: OpenStreams
}

const QuotaOut = component(
  'Quota',
  { quota: oneOf(quotaNames), used: integer, limit: integer },
  { quota: 'assets', used: 1250, limit: 2_000_000 },
)

export const quotaComponents = [QuotaOut]

export function quotaRoutes({ quotas, streams }: QuotaDeps): AnyRoute[] {
  return [
    route({
      id: 'quotas.list',
      method: 'GET',
      path: '/quotas',
      group: 'Organization',
      access: 'session',
      scopes: [],
      summary: 'List the quotas of the organization and their use',
      success: { status: 200, description: 'Every quota', schema: arrayOf(QuotaOut) },
      async handle({ principal }) {
        const { orgId } = principal
        const usedHere = (name: QuotaName): number =>
          name === 'live_streams' ? streams.liveStreamsOf(orgId) : quotas.queryTime.usedSeconds(orgId)
        const all = await quotas.list(orgId)
        return ok({ data: all.map(({ name, used, limit }) => ({ quota: name, used: used ?? usedHere(name), limit })) })
      },
    }),
  ]
}
