import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6

/** The range of addresses whose first `prefix` bits equal those of `address`. */
export interface Cidr {
  address: Address
  prefix: number
}

/**
 * Parses a plain address; returns null for text with a port, brackets or a zone, and for octal or short forms. `ipaddr.js`
 * alone would parse `0177.0.0.1` and `127.1` as 127.0.0.1, so `isIP` is checked first.
 */
export function parseAddress(text: string): Address | null {
  return isIP(text) === 0 || text.includes('%') ? null : ipaddr.parse(text)
}

/** Parses `10.0.0.0/8`, `fd00::/8` or a single address. Bits after the prefix are ignored. */
export function parseCidr(text: string): Cidr | null {
  const [start = '', length, ...more] = text.split('/')
  const address = parseAddress(start)
  if (address === null || more.length > 0) return null
  const bits = address.toByteArray().length * 8
  if (length === undefined) return { address, prefix: bits }
  return /^\d{1,3}$/.test(length) && Number(length) <= bits ? { address, prefix: Number(length) } : null
}

/** An IPv4 address is never in an IPv6 range, not even in the range of mapped addresses. */
export const isInCidr = (address: Address, range: Cidr): boolean =>
  address.kind() === range.address.kind() && address.match(range.address, range.prefix)

/**
 * The key of a client in per-address limits: the IPv4 address, also if it is mapped into IPv6, or the /64 network of an IPv6
 * address, because a single subscriber usually has a whole /64. Null if the text is not an address.
 */
export function clientKeyOf(text: string): string | null {
  if (isIPv4(text) || text === '::1') return text
  const address = parseAddress(text.split('%')[0]!)
  if (address === null || address instanceof ipaddr.IPv4) return null
  if (address.isIPv4MappedAddress()) return address.toIPv4Address().toString()
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`).toString()}/64`
}

/** True for an address or host name that is reachable only from this machine. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
