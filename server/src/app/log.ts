import { type Logger, pino } from 'pino'

/** Lines are written so many characters at a time; a quiet server still writes each within a second. */
const atOnce = 32 * 1024
const afterMs = 1000

/**
 * Gathers lines in front of pino's own file, which would look through all it has gathered with every line that comes:
 * for a server that answers thousands of requests a second that was a sixth of everything it allocated.
 */
class Gathered {
  readonly #file = pino.destination({ sync: false })
  #lines: string[] = []
  #length = 0
  #timer: NodeJS.Timeout | undefined

  write(line: string): void {
    this.#lines.push(line)
    this.#length += line.length
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
    if (this.#length > 0) this.#file.write(this.#lines.join(''))
    this.#lines = []
    this.#length = 0
  }
}

/** The process's log on its standard output, one JSON document per line. */
export function openLog(level: string): Logger {
  const lines = new Gathered()
  process.once('exit', () => lines.flush())
  return pino({ level, base: { pid: process.pid } }, lines)
}
