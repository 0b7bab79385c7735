import { UnauthorizedError } from '../../../client/src/errors.ts'
import { accessToken, endSession, refreshSession } from './session.ts'
import { type Query, type RequestOptions, readJson, send } from './transport.ts'

/**
 * Sends a request with the session's access token. When the server rejects the token, refreshes it and sends the
 * request a second time; when that is rejected too, ends the session.
 */
export async function sendWithSession(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const token = await accessToken()
  try {
    return await send(method, path, { ...options, token })
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error
  }
  await refreshSession(token)
  try {
    return await send(method, path, { ...options, token: await accessToken() })
  } catch (error) {
    if (error instanceof UnauthorizedError) endSession('The session was ended')
    throw error
  }
}

async function request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  return (await readJson(await sendWithSession(method, path, options))) as T
}

/** A POST without an access token, for users who are not signed in. Returns the `data` of the response. */
export async function postPublic<T>(path: string, body: unknown): Promise<T> {
  const response = (await readJson(await send('POST', path, { body }))) as { data: T } | undefined
  return response?.data as T
}

export const get = <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> =>
  request<T>('GET', path, { ...(query === undefined ? {} : { query }), signal })

/** The `data` of a single resource. */
export async function getOne<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return (await get<{ data: T }>(path, query, signal)).data
}

export async function post<T>(path: string, body?: unknown): Promise<T> {
  const response = await request<{ data: T } | undefined>('POST', path, body === undefined ? {} : { body })
  return response?.data as T
}

export async function patch<T>(path: string, body: unknown): Promise<T> {
  return (await request<{ data: T }>('PATCH', path, { body })).data
}

export const remove = (path: string): Promise<void> => request<undefined>('DELETE', path)
