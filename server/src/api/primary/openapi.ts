import { describeApi } from '../../http/openapi/document.ts'
import type { AnyRoute } from '../../http/route.ts'
import type { Component } from '../../http/openapi/response-schema.ts'
import { primaryComponents } from './surface.ts'

const about = `Lastseen knows where physical things are. Organizations keep assets, a tree of locations, and RFID, BLE and barcode tags; readers and operators report sightings.

Exchange a credential for a token at \`POST /api/v1/oauth/token\` and send it as \`Authorization: Bearer <token>\`. A token lasts 15 minutes.

Each credential has its own token bucket: bursts of 120 requests, 60 per minute sustained. Every response states how many requests remain.

Ids are opaque 64-bit integers. Times are RFC 3339 in UTC with milliseconds. Unknown fields and parameters are rejected. All errors have the same shape, and \`error.type\` identifies the error.`

/** `internal` are schemas of session endpoints that the contract requires in the public document. */
export function describePrimary(routes: readonly AnyRoute[], serverUrl: string, internal: readonly Component[]) {
  const components = [...primaryComponents, ...internal]
  return describeApi({ serverUrl, description: about, routes, components })
}
