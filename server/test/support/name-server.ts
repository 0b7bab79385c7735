import { type Socket, createSocket } from 'node:dgram'
import type { AddressInfo } from 'node:net'
import { parseAddress } from '../../src/kernel/ip-range.ts'

/** The addresses of a name: fixed, or other ones each time it is asked for. */
export type Answer = string[] | ((question: number) => string[])

const typeA = 1
const typeAaaa = 28

const bytesOf = (text: string): Buffer => Buffer.from(parseAddress(text)!.toByteArray())

/** A name server on a port of its own that knows what it was told, and nothing else. */
export class NameServer {
  readonly names = new Map<string, Answer>()
  /** How often each name was asked for, by type. */
  readonly asked = new Map<string, number>()
  readonly #socket: Socket = createSocket('udp4')

  static async open(): Promise<NameServer> {
    const server = new NameServer()
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
    // An answer with recursion; code 3 says that there is no such name.
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
