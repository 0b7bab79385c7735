import { flushDeletions } from '../lib/delayed-deletion.ts'
import { getOne, post, postPublic } from './request.ts'
import { currentUser, endSession, startSession, updateUser } from './session.ts'
import type { InvitationOffer, SessionResponse, User } from './types.ts'

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

export const requestEmailConfirmation = (): Promise<void> => post('/auth/email-confirmation')

/** Also updates the session of this browser, if it has one. */
export async function confirmEmail(token: string): Promise<void> {
  await postPublic('/auth/email-confirmation/confirm', { token })
  if (currentUser() !== null) updateUser(await getOne<User>('/auth/me'))
}

export const changePassword = (body: { current_password: string; new_password: string }): Promise<void> =>
  post('/auth/password', body)

/** How long signing out waits for the server. */
const signOutTimeoutMs = 5000

/** Ends this session. This browser is signed out even when the server does not respond. */
export async function signOut(): Promise<void> {
  const isEnded = flushDeletions().then(() => post('/auth/logout'))
  const timeout = new Promise((resolve) => setTimeout(resolve, signOutTimeoutMs))
  await Promise.race([isEnded.catch(() => undefined), timeout])
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
