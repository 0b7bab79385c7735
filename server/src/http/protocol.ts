import type { IncomingMessage } from 'node:http'
import { apiError } from '../kernel/errors.ts'

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

/** Counts occurrences in the raw list, because Node keeps only the first of several Host or Authorization headers. */
function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const headerName = rawHeaders[index]!
    if (headerName.length === name.length && headerName.toLowerCase() === name) count++
  }
  return count
}
