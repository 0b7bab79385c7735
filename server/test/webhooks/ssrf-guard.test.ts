import { type Server, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cidr, parseAddress, parseCidr } from '../../src/kernel/ip-range.ts'
import { type Outcome, WebhookSender } from '../../src/webhooks/sender.ts'
import { GuardedConnector, isPublic, isAllowed } from '../../src/webhooks/ssrf-guard.ts'
import { Authority } from '../support/certificates.ts'
import { DnsServer } from '../support/dns-server.ts'
import { WebhookReceiver, respondWith } from '../support/webhook-receiver.ts'

/** First and last address of each blocked range, and the adjacent public addresses if any. */
const ranges4: [range: string, first: string, last: string, before: string | null, after: string | null][] = [
  ['0/8', '0.0.0.0', '0.255.255.255', null, '1.0.0.0'],
  ['10/8', '10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64/10', '100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127/8', '127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['169.254/16', '169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16/12', '172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0/24', '192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2/24', '192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.31.196/24', '192.31.196.0', '192.31.196.255', '192.31.195.255', '192.31.197.0'],
  ['192.52.193/24', '192.52.193.0', '192.52.193.255', '192.52.192.255', '192.52.194.0'],
  ['192.175.48/24', '192.175.48.0', '192.175.48.255', '192.175.47.255', '192.175.49.0'],
  ['192.88.99/24', '192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168/16', '192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['198.18/15', '198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100/24', '198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113/24', '203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224/4', '224.0.0.0', '239.255.255.255', '223.255.255.255', null],
  ['240/4', '240.0.0.0', '255.255.255.255', null, null],
  ['the metadata of one cloud', '168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
]

const ranges6: typeof ranges4 = [
  ['everything below 2000::', '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null, '2000::'],
  ['2001::/23', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2000:ffff::', '2001:200::'],
  ['2001:db8::/32', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db7:ffff::', '2001:db9::'],
  ['2002::/16', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:ffff::', '2003::'],
  ['2620:4f:8000::/48', '2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff', '2620:4f:7fff::', '2620:4f:8001::'],
  ['3fff::/20', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3ffe:ffff::', '3fff:1000::'],
  ['everything from 4000::', '4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:ffff::', null],
]

const isOpen = (text: string): boolean => isPublic(parseAddress(text)!)

describe('an address that is not public', () => {
  it.each([...ranges4, ...ranges6])(
    'is every address in %s, and the adjacent addresses are public',
    (_, first, last, ...beside) => {
      expect([isOpen(first), isOpen(last)]).toEqual([false, false])
      for (const neighbour of beside) if (neighbour !== null) expect(isOpen(neighbour), neighbour).toBe(true)
    },
  )

  it.each([
    ['loopback', '::1'],
    ['an IPv4 address written into IPv6', '::7f00:1'],
    ['the metadata address written into IPv6', '::a9fe:a9fe'],
    ['a mapped private address', '::ffff:10.0.0.1'],
    ['a mapped public address', '::ffff:8.8.8.8'],
    ['NAT64 to loopback', '64:ff9b::7f00:1'],
    ['NAT64 to a public address', '64:ff9b::808:808'],
    ['local NAT64', '64:ff9b:1::1'],
    ['6to4', '2002:7f00:1::1'],
    ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['the discard prefix', '100::1'],
    ['unique local', 'fc00::1'],
    ['unique local with the local bit', 'fd12:3456:789a::1'],
    ['link-local', 'fe80::1'],
    ['site-local', 'fec0::1'],
    ['multicast', 'ff02::1'],
    ['segment routing', '5f00::1'],
    ['unassigned space', '4000::1'],
  ])('is %s', (_what, address) => expect(isOpen(address)).toBe(false))

  it.each(['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111', '2a00:1450:4001::1', '2001:4860:4860::8888'])(
    'is not %s',
    (address) => expect(isOpen(address)).toBe(true),
  )
})

describe('what the operator allows', () => {
  const allow = (...texts: string[]): Cidr[] => texts.map((text) => parseCidr(text)!)
  const may = (address: string, ...allowed: string[]): boolean => isAllowed(parseAddress(address)!, allow(...allowed))

  it('is nothing by default', () => {
    expect(may('10.1.2.3')).toBe(false)
    expect(may('8.8.8.8')).toBe(true)
  })

  it.each([
    ['10.1.2.3', '10.1.0.0/16', true],
    ['10.2.0.0', '10.1.0.0/16', false],
    ['fd00::1', 'fd00::/8', true],
    ['10.1.2.3', '0.0.0.0/0', true],
    ['100.64.0.1', '100.64.0.0/10', true],
  ])('reaches %s with %s: %s', (address, range, expected) => expect(may(address, range)).toBe(expected))

  it.each([
    ['loopback', '127.0.0.1', '0.0.0.0/0', '127.0.0.0/8'],
    ['loopback of IPv6', '::1', '::/0', '::1'],
    ['this host', '0.0.0.0', '0.0.0.0/0', '0.0.0.0'],
    ['link-local', '169.254.1.1', '128.0.0.0/1', '169.254.0.0/16'],
    ['link-local of IPv6', 'fe80::1', 'f000::/4', 'fe80::/10'],
    ['the metadata address', '169.254.169.254', '160.0.0.0/4', '169.254.169.254'],
    ['the metadata address of another cloud', '168.63.129.16', '168.0.0.0/8', '168.63.129.16'],
    ['a metadata address among shared addresses', '100.100.100.200', '100.64.0.0/10', '100.100.100.200'],
    ['the metadata address of IPv6', 'fd00:ec2::254', 'fd00::/8', 'fd00:ec2::254'],
    ['a mapped loopback address', '::ffff:127.0.0.1', '::/0', '::ffff:127.0.0.1'],
  ])('covers %s only by a range that lies there', (_what, address, wide, exact) => {
    expect(may(address, wide)).toBe(false)
    expect(may(address, exact)).toBe(true)
  })
})

describe('at every connection', () => {
  const authority = new Authority()
  let names: DnsServer
  let receiver: WebhookReceiver
  let target: GuardedConnector
  const refusedWords = 'the host resolves to an address that is not allowed'
  beforeAll(async () => {
    names = await DnsServer.open()
    receiver = await WebhookReceiver.open(authority.issue('DNS:*.hooks.test', 'IP:127.0.0.1'))
    target = guard('127.0.0.1')
  })
  afterAll(async () => {
    await receiver.close()
    await names.close()
    authority.remove()
  })

  function guard(...allowed: string[]): GuardedConnector {
    return new GuardedConnector({
      allowed: allowed.map((text) => parseCidr(text)!),
      ca: authority.certificate,
      nameServers: [names.address],
    })
  }

  async function post(url: string, through = target): Promise<Outcome> {
    const sender = new WebhookSender(through, { url, connections: 1, timeoutMs: 5000 })
    try {
      return await sender.send({ headers: {}, body: Buffer.from('{}') })
    } finally {
      await sender.close()
    }
  }

  const at = (host: string): string => `https://${host}:${receiver.port}/`

  it.each([
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '0177.0.0.1',
    '１２７.0.0.1',
    '127.0.0.1.',
    '127。0。0。1',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '0',
    '0.0.0.0',
    '[::]',
    '169.254.169.254',
    '0xa9fea9fe',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '10.0.0.1',
    '[64:ff9b::7f00:1]',
  ])('%s is rejected however it is spelled', async (host) => {
    const before = receiver.connections
    expect(await post(at(host), guard())).toMatchObject({ isDelivered: false, status: null, error: refusedWords })
    expect(receiver.connections).toBe(before)
  })

  it.each([
    ['a private address', ['10.0.0.1']],
    ['loopback of IPv6', ['::1']],
    ['an allowed and a private one', ['127.0.0.1', '10.0.0.1']],
    ['a private one after allowed ones', ['127.0.0.1', '127.0.0.1', '192.168.1.1']],
    ['an allowed IPv4 and a private IPv6', ['127.0.0.1', 'fd00::1']],
    ['a public and a private one', ['93.184.216.34', '172.16.0.1']],
    ['a mapped address', ['127.0.0.1', '::ffff:169.254.169.254']],
    ['an allowed and an AS112 address', ['127.0.0.1', '192.31.196.1']],
    ['an allowed and an AMT address', ['127.0.0.1', '192.52.193.1']],
    ['an allowed and an AS112 address of direct delegation', ['127.0.0.1', '192.175.48.1']],
    ['an allowed and an AS112 address of IPv6', ['127.0.0.1', '2620:4f:8000::1']],
  ])('a name that resolves to %s is rejected', async (_what, addresses) => {
    names.names.set('mixed.hooks.test', addresses)
    const before = receiver.connections
    expect(await post(at('mixed.hooks.test'))).toMatchObject({ isDelivered: false, status: null, error: refusedWords })
    expect(receiver.connections).toBe(before)
  })

  it('a name is resolved again, and rejected when it resolves to a blocked address the second time', async () => {
    names.names.set('turning.hooks.test', (question) => [question === 0 ? '127.0.0.1' : '169.254.169.254'])
    receiver.behaviour = respondWith(204, { connection: 'close' })
    const sender = new WebhookSender(target, { url: at('turning.hooks.test'), connections: 4, timeoutMs: 5000 })
    const first = await sender.send({ headers: {}, body: Buffer.from('{}') })
    const second = await sender.send({ headers: {}, body: Buffer.from('{}') })
    await sender.close()
    expect(first).toMatchObject({ isDelivered: true, status: 204, error: null })
    expect(second).toMatchObject({ isDelivered: false, status: null, error: refusedWords })
  })

  it('the resolved address is the one connected to, without a second DNS query in between', async () => {
    names.names.set('once.hooks.test', (question) => [question === 0 ? '127.0.0.1' : '169.254.169.254'])
    expect(await post(at('once.hooks.test'))).toMatchObject({ isDelivered: true })
    expect([names.asked.get('once.hooks.test 1'), names.asked.get('once.hooks.test 28')]).toEqual([1, 1])
  })

  it('a name without an address is not connected to', async () => {
    expect(await post(at('nowhere.hooks.test'))).toMatchObject({ status: null, error: 'the host has no address' })
  })

  it('the hosts file of the machine is not used', async () => {
    expect(await post(at('localhost'))).toMatchObject({ status: null, error: 'the host has no address' })
  })

  it('the second address is tried when the first one does not answer', async () => {
    names.names.set('two.hooks.test', ['127.0.0.9', '127.0.0.1'])
    expect(await post(at('two.hooks.test'), guard('127.0.0.0/8'))).toMatchObject({ isDelivered: true })
  })

  it.each(['127.0.0.1', 'plain.hooks.test', 'PLAIN.hooks.test', 'plain.hooks.test.'])(
    '%s is reached when it is allowed',
    async (host) => {
      names.names.set('plain.hooks.test', ['127.0.0.1'])
      expect(await post(at(host))).toMatchObject({ isDelivered: true, error: null })
    },
  )

  describe('with proxies in the environment', () => {
    let proxy: Server
    let visits = 0
    const variables = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']
    const others = { NODE_USE_ENV_PROXY: '1', NODE_TLS_REJECT_UNAUTHORIZED: '0' }
    const saved = { ...process.env }
    beforeAll(async () => {
      proxy = createServer((socket) => {
        visits++
        socket.destroy()
      })
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
      const { port } = proxy.address() as { port: number }
      for (const name of variables) process.env[name] = `http://127.0.0.1:${port}`
      Object.assign(process.env, others)
    })
    afterAll(async () => {
      for (const name of [...variables, ...Object.keys(others)])
        if (saved[name] === undefined) delete process.env[name]
        else process.env[name] = saved[name]
      await new Promise((resolve) => proxy.close(resolve))
    })

    it('the guard still applies, certificates are still checked, and no proxy is used', async () => {
      names.names.set('plain.hooks.test', ['127.0.0.1'])
      expect(await post(at('plain.hooks.test'), guard('127.0.0.1'))).toMatchObject({ isDelivered: true })
      expect(await post(at('127.0.0.1'), guard())).toMatchObject({ error: refusedWords })
      const distrustful = new GuardedConnector({
        allowed: [parseCidr('127.0.0.1')!],
        ca: null,
        nameServers: [names.address],
      })
      expect(await post(at('plain.hooks.test'), distrustful)).toMatchObject({ error: 'the certificate is not trusted' })
      expect(visits).toBe(0)
    })
  })
})
