import { type Socket, connect } from 'node:net'

/** One HTTP response as it was received. */
export interface RawReply {
  status: number
  headers: Record<string, string>
  text: string
  // Tests read properties of responses without types, as they do with `Reply`.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  json: any
}

/** A TCP connection for requests that an HTTP client would not send. */
export class RawConnection {
  readonly #socket: Socket
  #received = Buffer.alloc(0)
  #isEnded = false
  #onData: () => void = () => undefined
  readonly ended: Promise<void>

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#onData()
    })
    this.ended = new Promise((resolve) => {
      const end = (): void => {
        this.#isEnded = true
        this.#onData()
        resolve()
      }
      socket.on('end', end)
      socket.on('close', end)
      socket.on('error', end)
    })
  }

  static open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url)
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => resolve(new RawConnection(socket)))
      socket.once('error', reject)
    })
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  write(bytes: string | Buffer): void {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  }

  /** Sends the header lines, given without line breaks, and the body. */
  request(lines: readonly string[], body: string | Buffer = ''): void {
    this.write(`${lines.join('\r\n')}\r\n\r\n`)
    if (body.length > 0) this.write(body)
  }

  /** Returns the next final response, or null when the connection ends first. */
  async readResponse(options: { isHead?: boolean } = {}): Promise<RawReply | null> {
    for (;;) {
      const reply = this.#parseResponse(options.isHead ?? false)
      if (reply !== null && reply.status >= 200) return reply
      if (reply !== null) continue
      if (this.#isEnded) return null
      await new Promise<void>((resolve) => (this.#onData = resolve))
    }
  }

  /** Waits for an interim response, such as 100 Continue. */
  async readInterimResponse(): Promise<number> {
    for (;;) {
      const reply = this.#parseResponse(false)
      if (reply !== null) return reply.status
      if (this.#isEnded) throw new Error('the connection ended without an answer')
      await new Promise<void>((resolve) => (this.#onData = resolve))
    }
  }

  /** Waits for the end of the connection and returns the unread text. */
  async remainingText(): Promise<string> {
    await this.ended
    return this.#received.toString('latin1')
  }

  close(): void {
    this.#socket.destroy()
  }

  #parseResponse(isHead: boolean): RawReply | null {
    const headEnd = this.#received.indexOf('\r\n\r\n')
    if (headEnd === -1) return null
    const [first = '', ...lines] = this.#received.subarray(0, headEnd).toString('latin1').split('\r\n')
    const headers: Record<string, string> = {}
    for (const line of lines) {
      const colon = line.indexOf(':')
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
    }
    const status = Number(first.split(' ')[1])
    const length = isHead || status < 200 || status === 204 ? 0 : Number(headers['content-length'] ?? 0)
    const bodyStart = headEnd + 4
    if (this.#received.length < bodyStart + length) return null
    const text = this.#received.subarray(bodyStart, bodyStart + length).toString('utf8')
    this.#received = this.#received.subarray(bodyStart + length)
    const isJson = headers['content-type'] === 'application/json' && text !== ''
    return { status, headers, text, json: isJson ? JSON.parse(text) : undefined }
  }
}

/** Sends one request on a new connection. */
export async function sendRaw(url: string, lines: readonly string[], body?: string | Buffer): Promise<RawReply> {
  const wire = await RawConnection.open(url)
  try {
    wire.request(lines, body)
    const reply = await wire.readResponse({ isHead: lines[0]?.startsWith('HEAD ') ?? false })
    if (reply === null) throw new Error('the connection ended without an answer')
    return reply
  } finally {
    wire.close()
  }
}
