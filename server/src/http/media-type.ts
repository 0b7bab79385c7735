import type { IncomingMessage } from 'node:http'
import { refuse } from '../kernel/errors.ts'
import type { Body } from './route.ts'
import type { Shape } from './schema.ts'

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const mediaTypePattern = new RegExp(
  `^\\s*(${token}/${token})\\s*((?:;\\s*${token}=(?:${token}|"(?:[^"\\\\]|\\\\.)*")\\s*)*);?\\s*$`,
)
const charsetPattern = /;\s*charset=("?)([^";\s]*)\1/i

const expectation = {
  'application/json': 'Content-Type must be application/json',
  'application/merge-patch+json': 'Content-Type must be application/merge-patch+json on PATCH operations',
}

/** RFC 9110 media types: case does not matter, parameters are allowed, and a charset must be UTF-8. */
export function checkMediaType(request: IncomingMessage, body: Body<Shape>): void {
  const given = request.headers['content-type']
  if (given === body.mediaType && request.headers['content-encoding'] === undefined) {
    if (countHeader(request, 'content-type') === 1) return
  }
  const refusal = refuse.unsupportedMediaType(expectation[body.mediaType])
  if (given === undefined || countHeader(request, 'content-type') !== 1) throw refusal
  const match = mediaTypePattern.exec(given)
  if (match?.[1]?.toLowerCase() !== body.mediaType) throw refusal
  const charset = charsetPattern.exec(match[2] ?? '')?.[2]
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8')
    throw refuse.unsupportedMediaType('The charset of a request body must be UTF-8')
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw refuse.unsupportedMediaType('A request body must not be compressed')
}

function countHeader(request: IncomingMessage, name: string): number {
  let count = 0
  for (let index = 0; index < request.rawHeaders.length; index += 2)
    if (request.rawHeaders[index]!.length === name.length && request.rawHeaders[index]!.toLowerCase() === name) count++
  return count
}
