import { NetworkError, createError, parseErrorResponse } from '../../../client/src/errors.ts'
import { apiUrl } from './base-url.ts'
import { checkConnection } from './connection.ts'

type Value = string | number | boolean | null | undefined
export type Query = Record<string, Value | readonly Value[]>

/** Omits parameters that are undefined, null or empty. */
function queryString(query: Query = {}): string {
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
}

const mediaType = (method: string): string => (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json')

/**
 * Sends one request and returns the successful response. Throws the client's error class for an error response, and a
 * NetworkError when no response arrives. An empty token sends no Authorization header.
 */
export async function send(
  method: string,
  path: string,
  options: RequestOptions & { token?: string } = {},
): Promise<Response> {
  const { query, body, signal, token = '' } = options
  const headers: Record<string, string> = {}
  if (token !== '') headers['Authorization'] = `Bearer ${token}`
  if (body !== undefined) headers['Content-Type'] = mediaType(method)
  const init: RequestInit = { method, headers, cache: 'no-store', credentials: 'omit' }
  // A deletion that is sent while the user leaves the page is completed in the background.
  if (method === 'DELETE') init.keepalive = true
  if (body !== undefined) init.body = JSON.stringify(body)
  if (signal !== undefined) init.signal = signal
  let response: Response
  try {
    response = await fetch(apiUrl(path) + queryString(query), init)
  } catch (error) {
    signal?.throwIfAborted()
    void checkConnection()
    throw new NetworkError('The server cannot be reached', { cause: error })
  }
  if (response.ok) return response
  if (response.status > 500) void checkConnection()
  throw createError(parseErrorResponse(response, await response.text().catch(() => ''), 1))
}

/** The JSON body of a response; undefined when the response has no body. */
export async function readJson(response: Response): Promise<unknown> {
  const text = await response.text()
  return text === '' ? undefined : (JSON.parse(text) as unknown)
}
