import { type AddressInfo, type Server, type Socket, createServer } from 'node:net'

const string = (text: string): Buffer => {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])
}

/** Of each packet the test needs the kind and the number alone; all of them are short, so their length is one byte. */
function* packets(chunk: Buffer): Generator<{ kind: number; id: readonly number[] }> {
  for (let at = 0; at + 2 <= chunk.length; at += 2 + chunk[at + 1]!)
    yield { kind: chunk[at]! >> 4, id: [chunk[at + 2] ?? 0, chunk[at + 3] ?? 0] }
}

/** As much of an MQTT 5 broker as the server needs to listen at it. */
export class TinyBroker {
  readonly #server: Server
  #listener: Socket | null = null

  constructor() {
    this.#server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (chunk) => {
        for (const { kind, id } of packets(chunk)) {
          if (kind === 1) socket.write(Buffer.from([0x20, 3, 0, 0, 0]))
          if (kind === 8) socket.write(Buffer.from([0x90, 4, ...id, 0, 1]))
          if (kind === 8) this.#listener = socket
          if (kind === 10) socket.write(Buffer.from([0xb0, 4, ...id, 0, 0]))
          if (kind === 12) socket.write(Buffer.from([0xd0, 0]))
        }
      })
    })
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `mqtt://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Hands a message to the server, once it listens. */
  async publish(topic: string, message: string): Promise<void> {
    while (this.#listener === null) await new Promise((resume) => setTimeout(resume, 20))
    const body = Buffer.concat([string(topic), Buffer.from([0]), Buffer.from(message)])
    if (body.length > 127) throw new Error('longer than one byte can say')
    this.#listener.write(Buffer.concat([Buffer.from([0x30, body.length]), body]))
  }

  close(): void {
    this.#listener?.destroy()
    this.#server.close()
  }
}
