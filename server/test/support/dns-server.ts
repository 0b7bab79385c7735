import { type Socket, createSocket } from 'node:dgram'
import type { AddressInfo } from 'node:net'
import { parseAddress } from '../../src/kernel/ip-range.ts'

/** The addresses of a name: fixed, or computed for each query. */
export type DnsAnswer = string[] | ((question: number) => string[])

const typeA = 1
const typeAaaa = 28

const bytesOf = (text: string): Buffer => Buffer.from(parseAddress(text)!.toByteArray())

/** A DNS server on its own port that answers only for the configured names. */
export class DnsServer {
  readonly names = new Map<string, DnsAnswer>()
  /** The number of queries for each name, by type. */
  readonly asked = new Map<string, number>()
  readonly #socket: Socket = createSocket('udp4')

  static async open(): Promise<DnsServer> {
    const server = new DnsServer()
    server.#socket.on('message', (message, from) => {
      const answer = server.#answer(message)
      if (answer !== null) server.#socket.send(answer, from.port, from.address)
    })
    await new Promise<void>((resolve) => server.#socket.bind(0, '127.0.0.1', resolve))
    return server
  }

  get address(): string {
    return `127.0.0.1:${(this.#socket.address() as AddressInfo).port}`
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#socket.close(() => resolve()))
  }

  #answer(message: Buffer): Buffer | null {
    const labels: string[] = []
    let at = 12
    for (let length = message[at]!; length > 0; length = message[at]!) {
      labels.push(message.toString('latin1', at + 1, at + 1 + length))
      at += 1 + length
    }
    const type = message.readUInt16BE(at + 1)
    const question = message.subarray(12, at + 5)
    const name = labels.join('.').toLowerCase()
    const known = this.names.get(name)
    const times = this.asked.get(`${name} ${type}`) ?? 0
    this.asked.set(`${name} ${type}`, times + 1)
    if (type !== typeA && type !== typeAaaa) return null
    const all = typeof known === 'function' ? known(times) : (known ?? [])
    const own = all.map(bytesOf).filter((bytes) => bytes.length === (type === typeA ? 4 : 16))
    const header = Buffer.alloc(12)
    message.copy(header, 0, 0, 2)
    // A response with the recursion flags; code 3 is NXDOMAIN.
    header.writeUInt16BE(0x8180 | (known === undefined ? 3 : 0), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(own.length, 6)
    const records = own.map((bytes) => {
      const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length])
      return Buffer.concat([head, bytes])
    })
    return Buffer.concat([header, question, ...records])
  }
}
