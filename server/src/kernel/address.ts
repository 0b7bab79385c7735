import { isIP } from 'node:net'

/** An IP address as a number, so that ranges are compared and not spelled. */
export interface Address {
  family: 4 | 6
  value: bigint
}

/** A range of addresses: those whose first `prefix` bits are the same. */
export interface Range extends Address {
  prefix: number
}

const bitsOf = { 4: 32, 6: 128 } as const

const decimal = (text: string): bigint => text.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n)

function hexadecimal(text: string): bigint {
  // The URL parser writes every spelling of an IPv6 address in one way, without an IPv4 tail.
  const [head = '', tail] = new URL(`http://[${text}]/`).hostname.slice(1, -1).split('::')
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'))
  const [before, after] = [groups(head), groups(tail ?? '')]
  const zeros = Array<string>(tail === undefined ? 0 : 8 - before.length - after.length).fill('0')
  return [...before, ...zeros, ...after].reduce((value, group) => value * 65_536n + BigInt(`0x${group}`), 0n)
}

/** Null for anything but a plain address: no port, no brackets, no zone, no octal or short forms. */
export function parseAddress(text: string): Address | null {
  const family = isIP(text)
  if (family === 4) return { family, value: decimal(text) }
  if (family === 6 && !text.includes('%')) return { family, value: hexadecimal(text) }
  return null
}

/** `10.0.0.0/8`, `fd00::/8`, or a single address. Bits behind the prefix are ignored. */
export function parseRange(text: string): Range | null {
  const [place = '', length, ...more] = text.split('/')
  const address = parseAddress(place)
  if (address === null || more.length > 0) return null
  const bits = bitsOf[address.family]
  if (length === undefined) return { ...address, prefix: bits }
  return /^\d{1,3}$/.test(length) && Number(length) <= bits ? { ...address, prefix: Number(length) } : null
}

export function isWithin(address: Address, range: Range): boolean {
  const shift = BigInt(bitsOf[range.family] - range.prefix)
  return address.family === range.family && address.value >> shift === range.value >> shift
}
