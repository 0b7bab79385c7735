import type { RequestContext } from './request-context.ts'
import type { Deprecation } from './route.ts'

/** The contract promises clients at least six months between deprecation and sunset. */
export function assertSunsetNotice(id: string, { since, sunset }: Deprecation): void {
  const earliest = new Date(since)
  earliest.setUTCMonth(since.getUTCMonth() + 6)
  if (sunset < earliest) throw new Error(`${id} has a sunset less than six months after its deprecation`)
}

/** Sets the headers of RFC 8594 on every response of the endpoint, errors included. */
export function setDeprecationHeaders(context: RequestContext, sunset: Date): void {
  context.response.setHeader('Deprecation', 'true')
  context.response.setHeader('Sunset', sunset.toUTCString())
}
