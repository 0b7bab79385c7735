import { post, request } from './request.ts'
import { startSession, endSession } from './session.ts'
import type { InvitationOffer, SessionResponse } from './types.ts'

async function enter(path: string, body: object): Promise<void> {
  const { data } = await request<{ data: SessionResponse }>('POST', path, { body, isPublic: true })
  startSession(data)
}

export const signIn = (body: { email: string; password: string }): Promise<void> => enter('/auth/login', body)

export const signUp = (body: { email: string; password: string; organization_name: string }): Promise<void> =>
  enter('/auth/signup', body)

export const acceptInvitation = (body: { token: string; password: string }): Promise<void> =>
  enter('/auth/invitations/accept', body)

export async function lookUpInvitation(token: string): Promise<InvitationOffer> {
  const options = { body: { token }, isPublic: true }
  return (await request<{ data: InvitationOffer }>('POST', '/auth/invitations/lookup', options)).data
}

export const requestPasswordReset = (email: string): Promise<void> =>
  request('POST', '/auth/password-reset', { body: { email }, isPublic: true })

export const confirmPasswordReset = (body: { token: string; new_password: string }): Promise<void> =>
  request('POST', '/auth/password-reset/confirm', { body, isPublic: true })

export const changePassword = (body: { current_password: string; new_password: string }): Promise<void> =>
  post('/auth/password', body)

/** Ends this session; the person is signed out here even when the server does not answer. */
export async function signOut(): Promise<void> {
  await post('/auth/logout').catch(() => undefined)
  endSession()
}

export async function signOutEverywhere(): Promise<void> {
  await post('/auth/logout-everywhere')
  endSession()
}

export async function switchOrganization(orgId: number): Promise<void> {
  startSession(await post<SessionResponse>('/auth/switch-org', { org_id: orgId }))
}
