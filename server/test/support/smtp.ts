import { type AddressInfo, type Server, type Socket, createServer } from 'node:net'

export interface Mail {
  from: string
  to: string[]
  /** Headers and body as they were received. */
  data: string
}

/** A mail server that accepts every message, or rejects the first ones. */
export class MailServer {
  readonly mails: Mail[] = []
  /** The number of messages that the server will still reject with a temporary error. */
  busy = 0
  rejected = 0
  logins: string[] = []
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    server.on('connection', (socket) => this.#talk(socket))
  }

  static async open(): Promise<MailServer> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new MailServer(server)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  #talk(socket: Socket): void {
    let mail: Mail = { from: '', to: [], data: '' }
    let isData = false
    let rest = ''
    const say = (line: string): void => void socket.write(`${line}\r\n`)
    const take = (line: string): void => {
      if (isData) {
        if (line !== '.') return void (mail.data += `${line.replace(/^\./, '')}\n`)
        isData = false
        this.mails.push(mail)
        mail = { from: '', to: [], data: '' }
        return say('250 taken')
      }
      const [, verb = '', given = ''] = /^(\w+) ?(.*)$/.exec(line) ?? []
      if (verb === 'EHLO') return say('250-hello\r\n250 AUTH PLAIN')
      if (verb === 'AUTH') this.logins.push(Buffer.from(given.replace('PLAIN ', ''), 'base64').toString())
      if (verb === 'AUTH') return say('235 welcome')
      if (verb === 'MAIL' && this.busy > 0) {
        this.busy--
        this.rejected++
        return say('451 try again later')
      }
      if (verb === 'MAIL') mail.from = given
      if (verb === 'RCPT') mail.to.push(/<(.*)>/.exec(given)?.[1] ?? '')
      if (verb === 'DATA') isData = true
      say(verb === 'DATA' ? '354 go on' : verb === 'QUIT' ? '221 bye' : '250 ok')
      if (verb === 'QUIT') socket.end()
    }
    socket.setEncoding('utf8').on('error', () => undefined)
    socket.on('data', (text: string) => {
      const lines = (rest + text).split('\r\n')
      rest = lines.pop() ?? ''
      lines.forEach(take)
    })
    say('220 mail')
  }
}

/** Returns the text of a mail without its soft line breaks. */
export const textOf = ({ data }: Mail): string =>
  data
    .replaceAll(/=\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)))
