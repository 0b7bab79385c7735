import { describe, expect, it } from 'vitest'
import { clientKeyOf, isLoopback, isInCidr, parseAddress, parseCidr } from '../../src/kernel/ip-range.ts'

describe('an address', () => {
  it.each([
    ['0.0.0.0', 4, 0n],
    ['127.0.0.1', 4, 0x7f000001n],
    ['255.255.255.255', 4, 0xffffffffn],
    ['::', 6, 0n],
    ['::1', 6, 1n],
    ['0:0:0:0:0:0:0:1', 6, 1n],
    ['::ffff:127.0.0.1', 6, 0xffff7f000001n],
    ['2001:DB8::', 6, 0x20010db8n << 96n],
    ['1:2:3:4:5:6:7:8', 6, 0x00010002000300040005000600070008n],
    ['1::8', 6, (1n << 112n) + 8n],
  ] as const)('%s is parsed as a number', (text, family, value) => {
    const bytes = Buffer.from(parseAddress(text)!.toByteArray())
    expect([bytes.length === 4 ? 4 : 6, BigInt(`0x${bytes.toString('hex')}`)]).toEqual([family, value])
  })

  it.each(['', 'localhost', '127.1', '0x7f.0.0.1', '0177.0.0.1', '1.2.3.4:80', '[::1]', 'fe80::1%eth0', '1::2::3'])(
    '%j is invalid',
    (text) => expect(parseAddress(text)).toBe(null),
  )
})

describe('a range', () => {
  it.each([
    ['10.0.0.0/8', '10.255.255.255', true],
    ['10.9.9.9/8', '10.0.0.0', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['10.0.0.0/8', '::a00:1', false],
    ['127.0.0.1', '127.0.0.1', true],
    ['127.0.0.1', '127.0.0.2', false],
    ['0.0.0.0/0', '255.255.255.255', true],
    ['fd00::/8', 'fdff::1', true],
    ['fd00::/8', 'fe00::', false],
    ['::/0', '2001:db8::1', true],
    ['::/0', '1.2.3.4', false],
  ])('%s and %s: %s', (range, address, expected) => {
    expect(isInCidr(parseAddress(address)!, parseCidr(range)!)).toBe(expected)
  })

  it.each(['10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/-1', 'ten/8', '/8', '10.0/8'])(
    '%j is invalid',
    (text) => expect(parseCidr(text)).toBe(null),
  )
})

describe('The key of a client in limits', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::1', '::1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['unknown', null],
    ['127.1', null],
    ['', null],
  ])('of %j is %j', (text, key) => {
    expect(clientKeyOf(text)).toBe(key)
  })
})

describe('Only this machine reaches', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.8.8.8', true],
    ['::1', true],
    ['localhost', true],
    ['0.0.0.0', false],
    ['::', false],
    ['192.0.2.1', false],
    ['127.example.com', false],
  ])('%s: %s', (host, isLocal) => {
    expect(isLoopback(host)).toBe(isLocal)
  })
})
