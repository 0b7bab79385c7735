import { connect } from 'node:net'

const headEnd = Buffer.from('\r\n\r\n')
const lengthName = '\r\nContent-Length: '

/** One keep-alive connection that sends the next request when the last answer is whole. It does as little as it can. */
export class Client {
  #socket
  #parts = []
  #received = 0
  #expected = -1
  #status = 0
  #bodyStart = 0
  #resolve
  #reject

  static open(port) {
    return new Promise((resolve, reject) => {
      const client = new Client()
      client.#socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(client))
      client.#socket.on('data', (chunk) => client.#take(chunk))
      const fail = (error) => (client.#reject ?? reject)(error)
      client.#socket.on('error', fail)
      client.#socket.on('close', () => fail(new Error('the connection was closed')))
    })
  }

  /** Resolves to the status; `body` then gives the answer's text. */
  send(bytes) {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
      this.#parts = []
      this.#received = 0
      this.#expected = -1
      this.#socket.write(bytes)
    })
  }

  get body() {
    return Buffer.concat(this.#parts).subarray(this.#bodyStart).toString()
  }

  close() {
    this.#reject = () => undefined
    this.#socket.destroy()
  }

  #take(chunk) {
    this.#parts.push(chunk)
    this.#received += chunk.length
    if (this.#expected === -1) this.#readHead()
    if (this.#received !== this.#expected) return
    this.#resolve(this.#status)
  }

  #readHead() {
    const bytes = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts)
    const end = bytes.indexOf(headEnd)
    if (end === -1) return
    const head = bytes.latin1Slice(0, end)
    const at = head.indexOf(lengthName)
    this.#status = Number(head.slice(9, 12))
    this.#bodyStart = end + headEnd.length
    this.#expected = this.#bodyStart + (at === -1 ? 0 : parseInt(head.slice(at + lengthName.length), 10))
  }
}
