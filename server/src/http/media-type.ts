import type { IncomingMessage } from 'node:http'
import { apiError } from '../kernel/errors.ts'

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const typePattern = new RegExp(`${token}/${token}`, 'y')
const parameterPattern = new RegExp(`[ \\t]*;[ \\t]*(?:(${token})=(?:(${token})|"((?:[^"\\\\]|\\\\.)*)"))?`, 'y')

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

function countHeader(request: IncomingMessage, name: string): number {
  let count = 0
  for (let index = 0; index < request.rawHeaders.length; index += 2)
    if (request.rawHeaders[index]!.length === name.length && request.rawHeaders[index]!.toLowerCase() === name) count++
  return count
}
