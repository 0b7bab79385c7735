import type { IncomingMessage } from 'node:http'
import { clientKeyOf } from '../kernel/ip-range.ts'

/** True when the request has a header that proxies add. */
export const isForwarded = ({ headers }: IncomingMessage): boolean =>
  ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'].some((name) => headers[name] !== undefined)

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
