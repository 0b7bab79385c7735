import type { IncomingMessage } from 'node:http'
import { clientKeyOf } from '../kernel/ip-range.ts'

/** True when the headers say that a proxy forwarded the request. */
export const isForwarded = ({ headers }: IncomingMessage): boolean =>
  ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'].some((name) => headers[name] !== undefined)

/** Some proxies write the client's port behind the address. */
const withoutPort = (text: string): string => /^(?:([\d.]+)|\[(.+)\]):\d+$/.exec(text)?.slice(1).find(Boolean) ?? text

/**
 * The key of the client in all limits by address. Behind a trusted proxy it is the last entry of X-Forwarded-For, the one
 * that the proxy itself has written. It need not be an address: a proxy may write another name for the client.
 */
export function clientAddress(request: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy ? request.headers['x-forwarded-for'] : undefined
  const last = typeof forwarded === 'string' ? withoutPort(forwarded.split(',').at(-1)!.trim()) : ''
  if (last !== '') return clientKeyOf(last) ?? last.slice(0, 64)
  return clientKeyOf(request.socket.remoteAddress ?? '') ?? ''
}
