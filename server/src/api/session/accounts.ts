import {
  acceptInvitation,
  invite,
  readInvitation,
  shortestPassword,
  withdrawInvitation,
} from '../../accounts/invitations.ts'
import { changeRole, getMember, removeMember } from '../../accounts/members.ts'
import type { AccountDeps } from '../../accounts/deps.ts'
import { assertEmailConfirmed } from '../../accounts/email-confirmation.ts'
import { changePassword, confirmPasswordReset, requestPasswordReset } from '../../accounts/passwords.ts'
import { boolean, id, text } from '../../http/validation/fields.ts'
import { limit, offset } from '../../http/validation/parameters.ts'
import { type AnyRoute, noContent, ok, route } from '../../http/route.ts'
import { optional } from '../../http/validation/schema.ts'
import { type Output, component, pageOf, envelope } from '../../http/openapi/response-schema.ts'
import { now } from '../../kernel/clock.ts'
import { formatMillis } from '../../kernel/instant.ts'
import { type Invitation, listInvitations } from '../../users/invitations.sql.ts'
import { type Member, listMembers } from '../../users/members.sql.ts'
import { timestamp } from '../shared/wire.ts'
import { email, jsonBody, singleLine, newPassword, password, role, token } from './fields.ts'
import { inSession, signedIn } from './sessions.ts'

const Member = component(
  'Member',
  { user_id: id, email, role, joined_at: timestamp },
  { user_id: 5120093347718820, email: 'ada@example.com', role: 'admin', joined_at: '2026-05-04T08:00:00.000Z' },
)

const invitationShape = { id: id, email, role, created_at: timestamp, expires_at: timestamp }
const invitationExample = {
  id: 3390415586620914,
  email: 'grace@example.com',
  role: 'operator',
  created_at: '2026-05-04T08:00:00.000Z',
  expires_at: '2026-05-11T08:00:00.000Z',
} as const

const Invitation = component('Invitation', invitationShape, invitationExample)

const NewInvitation = component(
  'NewInvitation',
  { ...invitationShape, link: text({ max: 4096 }) },
  { ...invitationExample, link: 'https://track.example.com/join#token=…' },
)

const Offer = component(
  'InvitationOffer',
  { email, role, organization_name: singleLine, has_account: boolean },
  { email: 'grace@example.com', role: 'operator', organization_name: 'Northwind', has_account: false },
)

export const accountComponents = [Member, Invitation, NewInvitation, Offer]

const presentMember = (member: Member): Output<(typeof Member)['shape']> => ({
  user_id: member.userId,
  email: member.email,
  role: member.role,
  joined_at: formatMillis(member.joinedAt),
})

const presentInvitation = (invitation: Invitation): Output<typeof invitationShape> => ({
  id: invitation.id,
  email: invitation.email,
  role: invitation.role,
  created_at: formatMillis(invitation.createdAt),
  expires_at: formatMillis(invitation.expiresAt),
})

/** Changing and resetting passwords. */
export function passwordRoutes(deps: AccountDeps): AnyRoute[] {
  const common = { group: 'Passwords', method: 'POST', scopes: [] } as const
  const changed = { status: 204, description: 'Changed' } as const
  return [
    route({
      ...common,
      id: 'auth.password',
      path: '/auth/password',
      access: 'session',
      summary: 'Change the password',
      description: 'Ends every other session of the user.',
      body: jsonBody('PasswordChange', { current_password: password, new_password: newPassword }),
      hashesPassword: true,
      success: changed,
      errorStatuses: [429],
      async handle({ principal, body, address }) {
        const { current_password: current, new_password: next } = body
        const { subject, sessionId } = principal
        await changePassword(deps, { userId: Number(subject), sessionId, address, current, next })
        return noContent
      },
    }),
    route({
      ...common,
      id: 'auth.password-reset',
      path: '/auth/password-reset',
      access: 'public',
      summary: 'Request a password reset link',
      description: 'The response is the same whether or not the address has an account.',
      body: jsonBody('PasswordReset', { email }),
      success: { status: 202, description: 'Accepted' },
      errorStatuses: [429],
      async handle({ body, address }) {
        await requestPasswordReset(deps, { email: body.email, address })
        return { status: 202 }
      },
    }),
    route({
      ...common,
      id: 'auth.password-reset.confirm',
      path: '/auth/password-reset/confirm',
      access: 'public',
      summary: 'Set a new password with a reset link',
      description: 'A link works once, within an hour. Ends every session of the user.',
      body: jsonBody('PasswordResetConfirm', { token, new_password: newPassword }),
      hashesPassword: true,
      success: changed,
      errorStatuses: [429],
      async handle({ body, address }) {
        await confirmPasswordReset(deps, { token: body.token, password: body.new_password, address })
        return noContent
      },
    }),
  ]
}

/** The members of the organization. */
export function memberRoutes(deps: AccountDeps): AnyRoute[] {
  const common = { group: 'Members', access: 'session', scopes: ['members:admin'] } as const
  const item = {
    ...common,
    path: '/members/{user_id}',
    ids: ['user_id'],
    ensureExists: async (context: { principal: { orgId: number }; params: { user_id: number } }): Promise<void> => {
      await getMember(deps, context.principal.orgId, context.params.user_id)
    },
  } as const
  return [
    route({
      ...common,
      id: 'members.list',
      method: 'GET',
      path: '/members',
      summary: 'List members',
      query: { parameters: { limit, offset } },
      success: { status: 200, description: 'A page of members, by e-mail address', schema: pageOf(Member) },
      async handle({ principal, query }) {
        const page = await listMembers(deps.db.read, principal.orgId, query)
        return ok({ data: page.rows.map(presentMember), ...query, total_count: page.total })
      },
    }),
    route({
      ...item,
      id: 'members.patch',
      method: 'PATCH',
      summary: 'Change the role of a member',
      description: 'Applies from the member’s next request on. The last admin cannot be demoted.',
      body: { ...jsonBody('MemberPatch', { role: optional(role) }), mediaType: 'application/merge-patch+json' },
      success: { status: 200, description: 'The member', schema: envelope(Member) },
      errorStatuses: [409],
      async handle({ principal, params, body }) {
        const { orgId } = principal
        if (body.role === undefined) return ok({ data: presentMember(await getMember(deps, orgId, params.user_id)) })
        return ok({ data: presentMember(await changeRole(deps, orgId, params.user_id, body.role)) })
      },
    }),
    route({
      ...item,
      id: 'members.delete',
      method: 'DELETE',
      summary: 'Remove a member',
      description:
        'Ends the member’s sessions in this organization and keeps the account. The last admin cannot be removed.',
      success: { status: 204, description: 'Removed' },
      errorStatuses: [409],
      async handle({ principal, params }) {
        await removeMember(deps, principal.orgId, params.user_id)
        return noContent
      },
    }),
  ]
}

/** Sending, withdrawing and accepting invitations. */
export function invitationRoutes(deps: AccountDeps): AnyRoute[] {
  const common = { group: 'Invitations', access: 'session', scopes: ['members:admin'] } as const
  const anonymous = {
    group: 'Invitations',
    access: 'public',
    method: 'POST',
    scopes: [],
    errorStatuses: [429],
  } as const
  return [
    route({
      ...common,
      id: 'invitations.list',
      method: 'GET',
      path: '/invitations',
      summary: 'List open invitations',
      query: { parameters: { limit, offset } },
      success: { status: 200, description: 'A page of invitations', schema: pageOf(Invitation) },
      async handle({ principal, query }) {
        const page = await listInvitations(deps.db.read, principal.orgId, query, now(deps.clock))
        return ok({ data: page.rows.map(presentInvitation), ...query, total_count: page.total })
      },
    }),
    route({
      ...common,
      id: 'invitations.invite',
      method: 'POST',
      path: '/invitations',
      summary: 'Invite a user; the link is shown only once',
      body: jsonBody('InvitationCreate', { email, role }),
      success: { status: 201, description: 'The invitation', schema: envelope(NewInvitation) },
      errorStatuses: [409, 429],
      async handle({ principal, body }) {
        await assertEmailConfirmed(deps, Number(principal.subject))
        const { invitation, link } = await invite(deps, principal.orgId, body)
        const data: Output<(typeof NewInvitation)['shape']> = { ...presentInvitation(invitation), link }
        return { status: 201, body: { data } }
      },
    }),
    route({
      ...common,
      id: 'invitations.withdraw',
      method: 'DELETE',
      path: '/invitations/{invitation_id}',
      ids: ['invitation_id'],
      summary: 'Withdraw an invitation',
      success: { status: 204, description: 'Withdrawn' },
      async handle({ principal, params }) {
        await withdrawInvitation(deps, principal.orgId, params.invitation_id)
        return noContent
      },
    }),
    route({
      ...anonymous,
      id: 'auth.invitations.lookup',
      path: '/auth/invitations/lookup',
      summary: 'Look up an invitation by its link',
      body: jsonBody('InvitationLookup', { token }),
      success: { status: 200, description: 'The invitation', schema: envelope(Offer) },
      async handle({ body, address }) {
        const { invitation, organizationName, account } = await readInvitation(deps, { token: body.token, address })
        const data: Output<(typeof Offer)['shape']> = {
          email: invitation.email,
          role: invitation.role,
          organization_name: organizationName,
          has_account: account !== null,
        }
        return { status: 200, headers: { 'Cache-Control': 'no-store' }, body: { data } }
      },
    }),
    route({
      ...anonymous,
      id: 'auth.invitations.accept',
      path: '/auth/invitations/accept',
      summary: 'Accept an invitation with a new account, or with the password of the existing account',
      description: `A new account needs a password of at least ${shortestPassword} characters.`,
      body: jsonBody('InvitationAccept', { token, password }),
      hashesPassword: true,
      success: inSession(201),
      errorStatuses: [403, 409, 429],
      async handle({ body, address }) {
        return signedIn(201, await acceptInvitation(deps, { ...body, address }))
      },
    }),
  ]
}
