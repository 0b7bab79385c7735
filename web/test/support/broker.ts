import { type AddressInfo, type Server, type Socket, createServer } from 'node:net'

const string = (text: string): Buffer => {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])
}

/** The type and packet id of each packet. All packets are short, so their length is one byte. */
function* packets(chunk: Buffer): Generator<{ type: number; id: readonly number[] }> {
  for (let at = 0; at + 2 <= chunk.length; at += 2 + chunk[at + 1]!)
    yield { type: chunk[at]! >> 4, id: [chunk[at + 2] ?? 0, chunk[at + 3] ?? 0] }
}

/** A minimal MQTT 5 broker that accepts the server's subscription. */
export class StubBroker {
  readonly #server: Server
  #subscriber: Socket | null = null

  constructor() {
    this.#server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (chunk) => {
        for (const { type, id } of packets(chunk)) {
          if (type === 1) socket.write(Buffer.from([0x20, 3, 0, 0, 0]))
          if (type === 8) socket.write(Buffer.from([0x90, 4, ...id, 0, 1]))
          if (type === 8) this.#subscriber = socket
          if (type === 10) socket.write(Buffer.from([0xb0, 4, ...id, 0, 0]))
          if (type === 12) socket.write(Buffer.from([0xd0, 0]))
        }
      })
    })
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `mqtt://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Delivers a message to the server, as soon as it has subscribed. */
  async publish(topic: string, message: string): Promise<void> {
    while (this.#subscriber === null) await new Promise((resolve) => setTimeout(resolve, 20))
    const body = Buffer.concat([string(topic), Buffer.from([0]), Buffer.from(message)])
    if (body.length > 127) throw new Error('the packet is longer than 127 bytes')
    this.#subscriber.write(Buffer.concat([Buffer.from([0x30, body.length]), body]))
  }

  close(): void {
    this.#subscriber?.destroy()
    this.#server.close()
  }
}
