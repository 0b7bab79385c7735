/** What the headers of a request say: protocol, client address, user agent, access token and media type. */
import type { IncomingMessage } from 'node:http'
import { apiError } from '../kernel/errors.ts'
import { clientKeyOf, isLoopback } from '../kernel/ip-range.ts'

/** RFC 3986 section 3.2: an IP literal or a name, and an optional port. */
const hostPattern = /^(?:\[[0-9a-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})+)(?::\d{0,5})?$/i

/** Rejects requests that parse as HTTP but use features that this service does not support. */
export function checkProtocol(request: IncomingMessage): void {
  if (request.httpVersionMajor !== 1) throw apiError.badRequest('Only HTTP/1.1 is supported')
  // RFC 9112 section 3.2: a request with several Host headers is rejected, whatever its version.
  if (countHeader(request, 'host') > 1) throw apiError.badRequest('The Host header appears more than once')
  if (request.headers.host === undefined && request.httpVersion === '1.1')
    throw apiError.badRequest('The Host header is missing')
  if (request.headers.host !== undefined && !hostPattern.test(request.headers.host))
    throw apiError.badRequest('The Host header is not a host name with an optional port')
  if (countHeader(request, 'authorization') > 1)
    throw apiError.badRequest('The Authorization header appears more than once')
  const coding = request.headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw apiError.badRequest('The only supported transfer coding is chunked')
}

/**
 * Counts occurrences in the raw list, because Node keeps only the first of several Host, Authorization or Content-Type
 * headers.
 */
function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const headerName = rawHeaders[index]!
    if (headerName.length === name.length && headerName.toLowerCase() === name) count++
  }
  return count
}

/** True when the request has a header that proxies add. */
export const isForwarded = ({ headers }: IncomingMessage): boolean =>
  ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'].some((name) => headers[name] !== undefined)

/** The name or address in the Host header, without brackets and port. */
const hostName = ({ headers }: IncomingMessage): string =>
  (headers.host ?? '').replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1')

/**
 * False for a request from a web page, and for a request that a proxy on the same machine may have forwarded: it has a
 * header that proxies add, or the host name that the client has used, or it is HTTP/1.0, as nginx sends by default.
 */
export const isLocal = (message: IncomingMessage): boolean =>
  message.httpVersion === '1.1' &&
  !isForwarded(message) &&
  message.headers.origin === undefined &&
  isLoopback(hostName(message))

/** Some proxies append the client's port to the address. */
const withoutPort = (text: string): string => /^(?:([\d.]+)|\[(.+)\]):\d+$/.exec(text)?.slice(1).find(Boolean) ?? text

/**
 * The key that identifies the client in all per-address limits. Behind a trusted proxy it is the last entry of
 * X-Forwarded-For, which the proxy itself has written. It is not always an IP address: a proxy may write another identifier.
 */
export function clientAddress(request: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy ? request.headers['x-forwarded-for'] : undefined
  const last = typeof forwarded === 'string' ? withoutPort(forwarded.split(',').at(-1)!.trim()) : ''
  if (last !== '') return clientKeyOf(last) ?? last.slice(0, 64)
  return clientKeyOf(request.socket.remoteAddress ?? '') ?? ''
}

const libraryAgents = [
  /^curl\//i,
  /^python-requests\//i,
  /^python-urllib\//i,
  /^go-http-client\//i,
  /^node$/i,
  /^undici$/i,
  /^axios\//i,
  /^okhttp\//i,
  /^java\//i,
  /^libwww-perl\//i,
]

/** True for a User-Agent that does not identify the client: an empty one, or the default of an HTTP library. */
export function isAnonymousAgent(userAgent: string | undefined): boolean {
  return userAgent === undefined || userAgent.trim() === '' || libraryAgents.some((pattern) => pattern.test(userAgent))
}

/** Returns the token of `Authorization: Bearer <token>`. Tokens in any other header are rejected. */
export function bearerToken(request: IncomingMessage): string {
  const header = request.headers.authorization
  if (header === undefined) {
    if (request.headers['x-api-key'] !== undefined) throw apiError.unauthorized('Use Authorization: Bearer <token>')
    throw apiError.unauthorized('Missing authorization header')
  }
  const match = /^bearer(?: +(.*))?$/i.exec(header.trim())
  if (match === null) throw apiError.unauthorized('Use Authorization: Bearer <token>')
  const token = match[1]?.trim() ?? ''
  if (token === '' || token.includes(' ')) throw apiError.unauthorized('Invalid or expired token')
  return token
}

const tokenPattern = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const typePattern = new RegExp(`${tokenPattern}/${tokenPattern}`, 'y')
const parameterPattern = new RegExp(
  `[ \\t]*;[ \\t]*(?:(${tokenPattern})=(?:(${tokenPattern})|"((?:[^"\\\\]|\\\\.)*)"))?`,
  'y',
)

function expectation(accepted: readonly string[]): string {
  const list = [accepted.slice(0, -1).join(', '), accepted.at(-1)!].filter((part) => part !== '').join(' or ')
  return `Content-Type must be ${list}${list === 'application/merge-patch+json' ? ' on PATCH operations' : ''}`
}

/**
 * RFC 9110 media types: case does not matter, parameters are allowed, and a charset must be UTF-8. Returns the one of the
 * accepted types that the request has.
 */
export function checkMediaType(request: IncomingMessage, ...accepted: readonly string[]): string {
  const contentType = request.headers['content-type']
  if (contentType !== undefined && contentType === accepted[0] && request.headers['content-encoding'] === undefined) {
    if (countHeader(request, 'content-type') === 1) return contentType
  }
  const mismatch = apiError.unsupportedMediaType(expectation(accepted))
  if (contentType === undefined || countHeader(request, 'content-type') !== 1) throw mismatch
  const parsed = parseMediaType(contentType.trim())
  if (parsed === null || !accepted.includes(parsed.type)) throw mismatch
  if (parsed.charsets.some((charset) => charset !== 'utf-8'))
    throw apiError.unsupportedMediaType('The charset of a request body must be UTF-8')
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw apiError.unsupportedMediaType('A request body must not be compressed')
  return parsed.type
}

/** Parses the type and every charset parameter. Sticky patterns keep the time linear in the length of the header. */
function parseMediaType(text: string): { type: string; charsets: string[] } | null {
  typePattern.lastIndex = 0
  const type = typePattern.exec(text)?.[0].toLowerCase()
  if (type === undefined) return null
  const charsets: string[] = []
  for (let at = typePattern.lastIndex; at < text.length; at = parameterPattern.lastIndex) {
    parameterPattern.lastIndex = at
    const match = parameterPattern.exec(text)
    if (match === null) return null
    const [, name, plain, quoted = ''] = match
    if (name?.toLowerCase() === 'charset') charsets.push((plain ?? quoted.replace(/\\(.)/g, '$1')).toLowerCase())
  }
  return { type, charsets }
}
