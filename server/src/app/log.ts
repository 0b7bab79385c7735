import { type Logger, pino } from 'pino'

/** Lines are written so many bytes at a time; a quiet server still writes each within a second. */
const atOnce = 32 * 1024
const afterMs = 1000
/** The most that one unit of a string takes in UTF-8. */
const bytesPerUnit = 3

interface LogFile {
  write(text: string): unknown
  flushSync(): void
}

/**
 * Gathers lines in front of pino's own file, which would look through all it has gathered with every line that comes:
 * for a server that answers thousands of requests a second that was a sixth of everything it allocated. They are gathered
 * as bytes in one place: a line as pino makes it is a tree of dozens of strings, and every collection of garbage copied
 * the trees of a whole second.
 */
export class Gathered {
  readonly #file: LogFile
  readonly #room = Buffer.allocUnsafeSlow(2 * atOnce)
  #length = 0
  #timer: NodeJS.Timeout | undefined

  constructor(file: LogFile) {
    this.#file = file
  }

  write(line: string): void {
    const most = line.length * bytesPerUnit
    if (this.#length + most > this.#room.length) this.#pass()
    if (most > this.#room.length) return void this.#file.write(line)
    this.#length += this.#room.write(line, this.#length)
    if (this.#length >= atOnce) this.#pass()
    else this.#timer ??= setTimeout(() => this.#pass(), afterMs).unref()
  }

  /** Everything is written when this returns, as far as the file takes it. */
  flush(): void {
    this.#pass()
    this.#file.flushSync()
  }

  #pass(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#length > 0) this.#file.write(this.#room.toString('utf8', 0, this.#length))
    this.#length = 0
  }
}

/** The process's log on its standard output, one JSON document per line. */
export function openLog(level: string): Logger {
  const lines = new Gathered(pino.destination({ sync: false }))
  process.once('exit', () => lines.flush())
  return pino({ level, base: { pid: process.pid } }, lines)
}
