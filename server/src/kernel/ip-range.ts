import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6

/** A range of addresses: those whose first `prefix` bits are the same as the address's. */
export interface Cidr {
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
export function parseCidr(text: string): Cidr | null {
  const [start = '', length, ...more] = text.split('/')
  const address = parseAddress(start)
  if (address === null || more.length > 0) return null
  const bits = address.toByteArray().length * 8
  if (length === undefined) return { address, prefix: bits }
  return /^\d{1,3}$/.test(length) && Number(length) <= bits ? { address, prefix: Number(length) } : null
}

/** An IPv4 address is never within a range of IPv6, not even as a mapped address. */
export const isInCidr = (address: Address, range: Cidr): boolean =>
  address.kind() === range.address.kind() && address.match(range.address, range.prefix)

/**
 * What limits count a client by: an IPv4 address as it is, also when it is mapped into IPv6, and an IPv6 address by its
 * /64 network, because a single subscriber has a whole one. Null for anything but an address.
 */
export function clientKeyOf(text: string): string | null {
  if (isIPv4(text) || text === '::1') return text
  const address = parseAddress(text.split('%')[0]!)
  if (address === null || address instanceof ipaddr.IPv4) return null
  if (address.isIPv4MappedAddress()) return address.toIPv4Address().toString()
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`).toString()}/64`
}

/** True for an address, or the name of one, that only this machine can reach. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
