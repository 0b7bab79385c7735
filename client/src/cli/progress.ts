import type { Stream } from './output.ts'

const barWidth = 24
const intervalMs = 100

/** Shows the progress of long work as a bar on a terminal. */
export class Progress {
  readonly #stream: Stream | null
  readonly #title: string
  readonly #millis: () => number
  #shownAtMs = Number.NEGATIVE_INFINITY

  /** Without a stream nothing is shown. */
  constructor(stream: Stream | null, title: string, millis: () => number = () => Date.now()) {
    this.#stream = stream
    this.#title = title
    this.#millis = millis
  }

  show(done: number, total: number): void {
    if (this.#stream === null || this.#millis() - this.#shownAtMs < intervalMs) return
    this.#shownAtMs = this.#millis()
    const filled = total === 0 ? 0 : Math.min(barWidth, Math.round((done / total) * barWidth))
    const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled)
    this.#stream.write(`\r\u001B[K${this.#title} ${bar} ${done} of ${total}`)
  }

  /** Clears the bar, so that the next output starts on an empty line. */
  end(): void {
    if (this.#shownAtMs !== Number.NEGATIVE_INFINITY) this.#stream?.write('\r\u001B[K')
  }
}
