import type { AccountDeps } from '../../accounts/deps.ts'
import { confirmEmailAddress, requestConfirmation } from '../../accounts/email-confirmation.ts'
import { type AnyRoute, noContent, route } from '../../http/route.ts'
import { jsonBody, token } from './fields.ts'

/** Confirming the e-mail address of an account that was created by a sign-up. */
export function emailConfirmationRoutes(deps: AccountDeps): AnyRoute[] {
  const common = { group: 'Accounts', method: 'POST', scopes: [], errorStatuses: [429] } as const
  return [
    route({
      ...common,
      id: 'auth.email-confirmation',
      path: '/auth/email-confirmation',
      access: 'session',
      summary: 'Mail the link that confirms the e-mail address again',
      description: 'Sends nothing if the address is confirmed already.',
      success: { status: 202, description: 'Accepted' },
      async handle({ principal }) {
        await requestConfirmation(deps, Number(principal.subject))
        return { status: 202 }
      },
    }),
    route({
      ...common,
      id: 'auth.email-confirmation.confirm',
      path: '/auth/email-confirmation/confirm',
      access: 'public',
      summary: 'Confirm an e-mail address with a link',
      description: 'A link works for seven days.',
      body: jsonBody('EmailConfirmation', { token }),
      success: { status: 204, description: 'Confirmed' },
      async handle({ body, address }) {
        await confirmEmailAddress(deps, { token: body.token, address })
        return noContent
      },
    }),
  ]
}
