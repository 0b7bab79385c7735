import { connect } from 'node:net'

const headEnd = Buffer.from('\r\n\r\n')

/**
 * Opens a keep-alive HTTP connection with one request in flight. It is written for low CPU use: it reads only the status
 * and the Content-Length of a response. `send` resolves to the status.
 */
export function openConnection(port) {
  return new Promise((resolve, reject) => {
    let pendingResponse = { resolve, reject }
    let chunks = []
    let received = 0
    let expected, status
    const fail = (error) => pendingResponse.reject(error)
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () =>
      pendingResponse.resolve({
        send: (bytes) =>
          new Promise((resolve, reject) => {
            // On a closed connection the promise would never settle.
            if (socket.readyState !== 'open') return reject(new Error('the connection is closed'))
            pendingResponse = { resolve, reject }
            chunks = []
            received = 0
            expected = undefined
            socket.write(bytes)
          }),
        isOpen: () => socket.readyState === 'open',
      }),
    )
    socket.on('error', fail)
    socket.on('close', () => fail(new Error('the connection was closed')))
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      received += chunk.length
      if (expected === undefined) readHead()
      if (received === expected) pendingResponse.resolve(status)
    })
    function readHead() {
      const bytes = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
      const end = bytes.indexOf(headEnd)
      if (end === -1) return
      const head = bytes.latin1Slice(0, end)
      status = Number(head.slice(9, 12))
      expected = end + headEnd.length + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
    }
  })
}
