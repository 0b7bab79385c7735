import { apiUrl } from './base-url.ts'
import { ApiError, Unreachable } from './errors.ts'
import { accessToken, endSession, refreshSession } from './session.ts'

type Value = string | number | boolean | null | undefined
export type Query = Record<string, Value | readonly Value[]>

function queryText(query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [name, given] of Object.entries(query))
    for (const value of Array.isArray(given) ? (given as readonly Value[]) : [given as Value])
      if (value !== undefined && value !== null && value !== '') search.append(name, String(value))
  const text = search.toString()
  return text === '' ? '' : `?${text}`
}

export interface RequestOptions {
  query?: Query
  body?: unknown
  signal?: AbortSignal | undefined
  /** Sent without a token. */
  isPublic?: boolean
}

const mediaType = (method: string): string => (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json')

async function attempt(method: string, path: string, options: RequestOptions, token: string): Promise<Response> {
  const headers: Record<string, string> = {}
  if (token !== '') headers['Authorization'] = `Bearer ${token}`
  if (options.body !== undefined) headers['Content-Type'] = mediaType(method)
  const init: RequestInit = { method, headers, cache: 'no-store', credentials: 'omit' }
  if (options.body !== undefined) init.body = JSON.stringify(options.body)
  if (options.signal !== undefined) init.signal = options.signal
  try {
    return await fetch(apiUrl(path) + queryText(options.query), init)
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error
    throw new Unreachable()
  }
}

async function bodyOf(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    return null
  }
}

/** The answer of the server, with the session renewed once when its token has run out. */
export async function respond(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const token = options.isPublic === true ? '' : await accessToken()
  let response = await attempt(method, path, options, token)
  if (response.status === 401 && options.isPublic !== true) {
    await refreshSession(token)
    response = await attempt(method, path, options, await accessToken())
    if (response.status === 401) endSession()
  }
  if (!response.ok) throw new ApiError(response.status, await bodyOf(response), response)
  return response
}

export async function request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  const response = await respond(method, path, options)
  return (response.status === 204 ? undefined : await bodyOf(response)) as T
}

export const get = <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> =>
  request<T>('GET', path, { ...(query === undefined ? {} : { query }), signal })

/** The `data` of a single resource. */
export async function getOne<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return (await get<{ data: T }>(path, query, signal)).data
}

export async function post<T>(path: string, body?: unknown): Promise<T> {
  const answer = await request<{ data: T } | undefined>('POST', path, body === undefined ? {} : { body })
  return answer?.data as T
}

export async function patch<T>(path: string, body: unknown): Promise<T> {
  return (await request<{ data: T }>('PATCH', path, { body })).data
}

export const remove = (path: string): Promise<void> => request<undefined>('DELETE', path)
