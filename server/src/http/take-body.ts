import { checkBody, decodeObject, readBytes } from './body.ts'
import type { Exchange } from './exchange.ts'
import type { AnyRoute, Body, Call } from './route.ts'
import type { Shape } from './schema.ts'

/** The bytes of the body, null when there are too many. */
export async function readBody(exchange: Exchange, { maxMebibytes }: Body<Shape>): Promise<Buffer | null> {
  const bytes = await readBytes(exchange.request, maxMebibytes)
  if (!exchange.request.complete) closeAfter(exchange)
  return bytes
}

/** A path that leads nowhere is reported before a bad body, but only a bad body costs the extra query. */
export async function decodeFor(
  route: AnyRoute,
  call: Call<never, never, never>,
  bytes: Buffer | null,
): Promise<unknown> {
  let value: ReturnType<typeof decodeObject> | undefined
  try {
    value = decodeObject(bytes, route.body!)
    return checkBody(value, route.body!)
  } catch (error) {
    await route.exists?.({ ...call, body: value })
    throw error
  }
}

/** A body too large even to be discarded ends the connection once its error is sent. */
function closeAfter(exchange: Exchange): void {
  exchange.response.shouldKeepAlive = false
  exchange.response.once('finish', () => exchange.request.destroy())
}
