import { UnauthorizedError } from '../../../client/src/errors.ts'
import type { Query } from '../../../client/src/query.ts'
import type { RequestOptions } from '../../../client/src/requests.ts'
import { apiPath } from './base-url.ts'
import { createClient, publicClient } from './client.ts'
import { accessToken, currentUser, endSession } from './session.ts'

export type { Query }

const client = createClient(accessToken)

/** For requests that the server answers at once. The user sees within ten seconds when the network has lost one. */
const shortTimeoutClient = createClient(accessToken, 10_000)

/** Omits parameters with empty values: an empty field of a form means that no filter is set. */
const withoutEmptyValues = (query: Query): Query =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''))

/** Ends the session when the server rejects its token and there is no other. */
async function withSession<Result>(send: () => Promise<Result>): Promise<Result> {
  try {
    return await send()
  } catch (error) {
    // The session may have ended already, with a reason of its own.
    if (error instanceof UnauthorizedError && currentUser() !== null) endSession('The session was ended')
    throw error
  }
}

/** Sends a GET with the session's access token and returns the response, whose body is a file or a stream. */
export const openWithSession = (path: string, query: Query = {}, options: RequestOptions = {}): Promise<Response> =>
  withSession(() => client.open(apiPath(path), { query: withoutEmptyValues(query), ...options }))

async function request<T>(path: string, options: RequestOptions, by = client): Promise<T> {
  return withSession(() => by.request(apiPath(path), options)) as Promise<T>
}

/** A POST without an access token, for users who are not signed in. Returns the `data` of the response. */
export async function postPublic<T>(path: string, body: unknown): Promise<T> {
  const response = await publicClient.request(apiPath(path), { method: 'POST', body })
  return (response as { data: T } | undefined)?.data as T
}

export const get = <T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> =>
  request<T>(path, { query: withoutEmptyValues(query), signal })

/** Like `get`, but fails when the server does not respond within ten seconds. */
export const getWithShortTimeout = <T>(path: string, query: Query, signal: AbortSignal): Promise<T> =>
  request<T>(path, { query: withoutEmptyValues(query), signal }, shortTimeoutClient)

/** The `data` of a single resource. */
export async function getOne<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return (await get<{ data: T }>(path, query, signal)).data
}

export async function post<T>(path: string, body?: unknown): Promise<T> {
  return (await request<{ data: T } | undefined>(path, { method: 'POST', body }))?.data as T
}

/** Like `post`, but fails when the server does not respond within ten seconds. */
export async function postWithShortTimeout<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const options = { method: 'POST', body, signal }
  return (await request<{ data: T } | undefined>(path, options, shortTimeoutClient))?.data as T
}

export async function patch<T>(path: string, body: unknown): Promise<T> {
  return (await request<{ data: T }>(path, { method: 'PATCH', body })).data
}

export const remove = (path: string): Promise<void> => request<undefined>(path, { method: 'DELETE' })
