import { describeApi } from '../../http/openapi/document.ts'
import type { AnyRoute } from '../../http/route.ts'
import type { Component } from '../../http/openapi/response-schema.ts'
import { primaryComponents } from './surface.ts'

const about = `Lastseen knows where physical things are. Organizations keep assets, a tree of locations, and RFID, BLE and barcode tags; readers and operators report sightings.

Exchange a credential for a token at \`POST /api/v1/oauth/token\` and send it as \`Authorization: Bearer <token>\`. A token lasts 15 minutes.

Each credential has its own token bucket: bursts of 120 requests, 60 per minute sustained. Every answer tells what is left of it.

Ids are opaque 64-bit integers. Times are RFC 3339 in UTC with milliseconds. Unknown fields and parameters are refused. Errors always have one shape; branch on \`error.type\`.`

/** `internal` are shapes of the web app's own endpoints that the contract wants described too. */
export function describePrimary(routes: readonly AnyRoute[], serverUrl: string, internal: readonly Component[]) {
  const components = [...primaryComponents, ...internal]
  return describeApi({ serverUrl, description: about, routes, components })
}
