import { oneOf } from '../../http/fields.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { component, wholeList } from '../../http/shape.ts'
import { quotaNames } from '../../kernel/quota.ts'
import type { Quotas } from '../../organizations/quotas.ts'
import { whole } from './fields.ts'

export interface QuotaNeeds {
  quotas: Quotas
}

const QuotaOut = component(
  'Quota',
  { quota: oneOf(quotaNames), used: whole, limit: whole },
  { quota: 'assets', used: 1250, limit: 2_000_000 },
)

export const quotaComponents = [QuotaOut]

export function quotaRoutes({ quotas }: QuotaNeeds): AnyRoute[] {
  return [
    route({
      id: 'quotas.list',
      method: 'GET',
      path: '/quotas',
      group: 'Organization',
      access: 'session',
      scopes: [],
      summary: 'What the organization has and how much it may have',
      success: { status: 200, description: 'Every quota', schema: wholeList(QuotaOut) },
      async handle({ caller }) {
        const all = await quotas.list(caller.orgId)
        return ok({ data: all.map(({ name, used, limit }) => ({ quota: name, used, limit })) })
      },
    }),
  ]
}
