import { checkBody, decodeObject, readBytes } from './body.ts'
import type { Exchange } from './exchange.ts'
import { checkMediaType } from './media-type.ts'
import type { AnyRoute, Call } from './route.ts'

/** The bytes of a body, null when there are too many. */
export interface Early {
  readonly bytes: Buffer | null
}

export async function readEarly(exchange: Exchange, route: AnyRoute): Promise<Early> {
  checkMediaType(exchange.request, route.body!)
  return { bytes: await readBytes(exchange.request, route.body!.maxMebibytes) }
}

/** A path that leads nowhere is reported before a bad body, but only a bad body costs the extra look. */
export async function takeBody(
  exchange: Exchange,
  route: AnyRoute,
  call: Call<never, never, never>,
  early: Early | undefined,
): Promise<unknown> {
  const { bytes } = early ?? { bytes: await readBytes(exchange.request, route.body!.maxMebibytes) }
  if (!exchange.request.complete) hangUpAfter(exchange)
  let value: ReturnType<typeof decodeObject> | undefined
  try {
    value = decodeObject(bytes, route.body!)
    return checkBody(value, route.body!)
  } catch (error) {
    await route.exists?.({ ...call, body: value })
    throw error
  }
}

/** A body too large even to throw away ends the connection once its refusal is out. */
function hangUpAfter(exchange: Exchange): void {
  exchange.response.shouldKeepAlive = false
  exchange.response.once('finish', () => exchange.request.destroy())
}
