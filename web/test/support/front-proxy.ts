import { type Server, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy in front of the server, on an origin of its own. While it is stopped, connections are refused. */
export class FrontProxy {
  private server: Server | null = null
  private port = 0
  private readonly target: string
  /** Replaces the body of a file: stands for another build. A status replaces the response of the server. */
  replace: (path: string, body: string) => string | number = (_path, body) => body

  constructor(target: string) {
    this.target = target
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  async start(): Promise<void> {
    this.server = createServer((incoming, outgoing) => {
      const { method, headers, url = '/' } = incoming
      const isReplaceable = method === 'HEAD' || /text\/html|^\*\/\*$/.test(headers.accept ?? '')
      const forwarded = isReplaceable ? { ...headers, 'accept-encoding': 'identity' } : headers
      const upstream = request(this.target + url, { method, headers: forwarded }, (response) => {
        const isText = /html|javascript/.test(response.headers['content-type'] ?? '')
        if (!isReplaceable || !isText) {
          outgoing.writeHead(response.statusCode!, response.headers)
          response.pipe(outgoing)
          return
        }
        let body = ''
        response.setEncoding('utf8').on('data', (text: string) => (body += text))
        response.on('end', () => {
          const replaced = this.replace(url, body)
          const { 'content-length': _length, ...rest } = response.headers
          if (typeof replaced === 'number') outgoing.writeHead(replaced).end()
          else outgoing.writeHead(response.statusCode!, rest).end(replaced)
        })
      })
      upstream.on('error', () => outgoing.destroy())
      outgoing.on('close', () => upstream.destroy())
      incoming.pipe(upstream)
    })
    await new Promise<void>((resolve) => this.server!.listen(this.port, '127.0.0.1', resolve))
    this.port = (this.server.address() as AddressInfo).port
  }

  async stop(): Promise<void> {
    const { server } = this
    if (server === null) return
    this.server = null
    await new Promise((resolve) => {
      server.close(resolve)
      server.closeAllConnections()
    })
  }
}
