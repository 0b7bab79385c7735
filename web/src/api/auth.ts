import { flushDeletions } from '../lib/delayed-deletion.ts'
import { post, postPublic } from './request.ts'
import { endSession, startSession } from './session.ts'
import type { InvitationOffer, SessionResponse } from './types.ts'

async function authenticate(path: string, body: object): Promise<void> {
  startSession(await postPublic<SessionResponse>(path, body))
}

export const signIn = (body: { email: string; password: string }): Promise<void> => authenticate('/auth/login', body)

export const signUp = (body: { email: string; password: string; organization_name: string }): Promise<void> =>
  authenticate('/auth/signup', body)

export const acceptInvitation = (body: { token: string; password: string }): Promise<void> =>
  authenticate('/auth/invitations/accept', body)

export const lookUpInvitation = (token: string): Promise<InvitationOffer> =>
  postPublic('/auth/invitations/lookup', { token })

export const requestPasswordReset = (email: string): Promise<void> => postPublic('/auth/password-reset', { email })

export const confirmPasswordReset = (body: { token: string; new_password: string }): Promise<void> =>
  postPublic('/auth/password-reset/confirm', body)

export const changePassword = (body: { current_password: string; new_password: string }): Promise<void> =>
  post('/auth/password', body)

/** Ends this session. This browser is signed out even when the server does not respond. */
export async function signOut(): Promise<void> {
  await flushDeletions()
  await post('/auth/logout').catch(() => undefined)
  endSession('You signed out')
}

export async function signOutEverywhere(): Promise<void> {
  await flushDeletions()
  await post('/auth/logout-everywhere')
  endSession('You signed out everywhere')
}

export async function switchOrganization(orgId: number): Promise<void> {
  await flushDeletions()
  startSession(await post<SessionResponse>('/auth/switch-org', { org_id: orgId }))
}
