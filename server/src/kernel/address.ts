import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6

/** A range of addresses: those whose first `prefix` bits are the same as the address's. */
export interface Range {
  address: Address
  prefix: number
}

/**
 * Null for anything but a plain address: no port, no brackets, no zone, no octal or short forms. `ipaddr.js` alone would
 * read `0177.0.0.1` and `127.1` as 127.0.0.1, so `isIP` decides what is an address.
 */
export function parseAddress(text: string): Address | null {
  return isIP(text) === 0 || text.includes('%') ? null : ipaddr.parse(text)
}

/** `10.0.0.0/8`, `fd00::/8`, or a single address. Bits behind the prefix are ignored. */
export function parseRange(text: string): Range | null {
  const [start = '', length, ...more] = text.split('/')
  const address = parseAddress(start)
  if (address === null || more.length > 0) return null
  const bits = address.toByteArray().length * 8
  if (length === undefined) return { address, prefix: bits }
  return /^\d{1,3}$/.test(length) && Number(length) <= bits ? { address, prefix: Number(length) } : null
}

/**
 * What limits count as one client: an IPv4 address, or the /64 network of an IPv6 address, since one client is usually
 * given a whole /64.
 */
export function clientNetwork(text: string): string {
  const address = parseAddress(text.split('%')[0]!)
  if (!(address instanceof ipaddr.IPv6)) return text
  if (address.isIPv4MappedAddress()) return address.toIPv4Address().toString()
  return `${address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}

/** An IPv4 address is never within a range of IPv6, not even as a mapped address. */
export const isWithin = (address: Address, range: Range): boolean =>
  address.kind() === range.address.kind() && address.match(range.address, range.prefix)
