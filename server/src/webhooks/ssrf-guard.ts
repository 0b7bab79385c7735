import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import {
  type TLSSocket,
  type SecureContext,
  connect as connectTls,
  createSecureContext,
  rootCertificates,
} from 'node:tls'
import { type Address, type Cidr, isInCidr, parseAddress, parseCidr } from '../kernel/ip-range.ts'

const ranges = (...texts: string[]): Cidr[] => texts.map((text) => parseCidr(text)!)

/** IPv4 ranges that are not public, and the address of Azure's internal services (168.63.129.16). */
const blockedV4 = ranges(
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['192.31.196.0/24', '192.52.193.0/24', '192.175.48.0/24', '224.0.0.0/4', '240.0.0.0/4', '168.63.129.16/32'],
)

/** For IPv6, only global unicast is public, except the ranges for documentation, IPv4 tunnels and AS112 name servers. */
const globalV6 = ranges('2000::/3')
const blockedV6 = ranges('2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20')

/**
 * Loopback, link-local and cloud metadata addresses, and IPv6 forms that embed an IPv4 address. An allowed range that is
 * wider than one of these does not allow them; an allowed range within one of them does.
 */
const alwaysBlocked = ranges(
  ...['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '168.63.129.16/32', '100.100.100.200/32', '192.0.0.192/32'],
  ...['::/96', 'fe80::/10', 'fd00:ec2::254/128', '::ffff:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48'],
)

export function isPublic(address: Address): boolean {
  const isIn = (list: readonly Cidr[]): boolean => list.some((range) => isInCidr(address, range))
  return address.kind() === 'ipv4' ? !isIn(blockedV4) : isIn(globalV6) && !isIn(blockedV6)
}

/** Public addresses are always allowed, others only if the operator allows them. */
export function isAllowed(address: Address, allowed: readonly Cidr[]): boolean {
  if (isPublic(address)) return true
  const blocked = alwaysBlocked.find((range) => isInCidr(address, range))
  return allowed.some((range) => isInCidr(address, range) && range.prefix >= (blocked?.prefix ?? 0))
}

/** Why a connection failed, in a message that is safe to show to a tenant's admin. */
export class UnreachableError extends Error {}

const notAllowed = (): UnreachableError => new UnreachableError('the host resolves to an address that is not allowed')

/** DNS queries cannot be aborted, so a query that outlives the signal is ignored. */
function beforeAbort<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new UnreachableError('timeout')), { once: true })
    work.then(resolve, reject)
  })
}

export interface GuardedConnectorOptions {
  /** Non-public ranges that the operator allows. */
  allowed: readonly Cidr[]
  /** Additional certificate authorities, as PEM. */
  ca: string | null
  /** Name servers; those of the system when empty. */
  nameServers: readonly string[]
}

/**
 * Opens connections to webhook endpoints. Every connection resolves the host and fails when one of the addresses is not
 * allowed. Because the check is part of every connection, DNS rebinding cannot bypass it.
 */
export class GuardedConnector {
  readonly #allowed: readonly Cidr[]
  readonly #resolver = new Resolver({ timeout: 1000, tries: 2 })
  readonly #trust: SecureContext

  constructor({ allowed, ca, nameServers }: GuardedConnectorOptions) {
    this.#allowed = allowed
    this.#trust = createSecureContext(ca === null ? {} : { ca: [...rootCertificates, ca] })
    if (nameServers.length > 0) this.#resolver.setServers(nameServers)
  }

  /** The addresses of the host; throws unless all are allowed. Names are resolved by DNS only, not by the hosts file. */
  async addressesOf(host: string): Promise<string[]> {
    const addresses = isIP(host) === 0 ? await this.#resolve(host) : [host]
    const isAllowedText = (text: string): boolean => {
      const address = parseAddress(text)
      return address !== null && isAllowed(address, this.#allowed)
    }
    if (!addresses.every(isAllowedText)) throw notAllowed()
    return addresses
  }

  async #resolve(host: string): Promise<string[]> {
    const answers = await Promise.allSettled([this.#resolver.resolve4(host), this.#resolver.resolve6(host)])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    throw new UnreachableError('the host has no address')
  }

  /** A TLS connection to a checked address, with the certificate checked against the host. The signal ends every step. */
  async connect(host: string, port: number, signal: AbortSignal): Promise<TLSSocket> {
    const name = host.replace(/^\[|\]$|\.$/g, '')
    const addresses = await beforeAbort(this.addressesOf(name), signal)
    let failure: unknown
    for (const [index, address] of addresses.entries()) {
      const timeoutMs = index === addresses.length - 1 ? null : 1500
      try {
        return await this.#open(name, address, port, signal, timeoutMs)
      } catch (error) {
        failure = error
        if (signal.aborted) break
      }
    }
    throw failure
  }

  #open(
    name: string,
    address: string,
    port: number,
    signal: AbortSignal,
    timeoutMs: number | null,
  ): Promise<TLSSocket> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(new UnreachableError('timeout'))
      const socket = connectTls({
        host: address,
        port,
        ...(isIP(name) === 0 ? { servername: name } : {}),
        secureContext: this.#trust,
        rejectUnauthorized: true,
        ALPNProtocols: ['http/1.1'],
      })
      const end = (): void => void socket.destroy(new UnreachableError('timeout'))
      const timer = timeoutMs === null ? undefined : setTimeout(end, timeoutMs)
      signal.addEventListener('abort', end, { once: true })
      const cleanUp = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        socket.off('error', fail)
      }
      const fail = (error: Error): void => {
        cleanUp()
        reject(error)
      }
      socket.setNoDelay(true)
      socket.on('error', fail)
      socket.once('secureConnect', () => {
        cleanUp()
        resolve(socket)
      })
    })
  }
}
