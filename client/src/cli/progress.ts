import type { Stream } from './output.ts'

const barWidth = 24

/** Shows the progress of long work: a bar on a terminal, otherwise a line every five seconds. */
export class Progress {
  readonly #stream: Stream | null
  readonly #title: string
  readonly #millis: () => number
  #total: number
  #done = 0
  #shownAtMs = Number.NEGATIVE_INFINITY
  #isDrawn = false

  /** Without a stream nothing is shown. */
  constructor(stream: Stream | null, title: string, total: number, millis: () => number = () => Date.now()) {
    this.#stream = stream
    this.#title = title
    this.#total = total
    this.#millis = millis
  }

  set total(total: number) {
    this.#total = total
  }

  advance(count = 1): void {
    this.#done += count
    const intervalMs = this.#stream?.isTTY === true ? 100 : 5000
    if (this.#stream === null || this.#millis() - this.#shownAtMs < intervalMs) return
    // Without a terminal, short work prints no line.
    const isFirst = this.#shownAtMs === Number.NEGATIVE_INFINITY
    this.#shownAtMs = this.#millis()
    if (this.#stream.isTTY === true) this.#draw()
    else if (!isFirst) this.#stream.write(`${this.#title}: ${this.#countText()}\n`)
  }

  /** Clears the bar, so that the next output starts on an empty line. */
  end(): void {
    if (this.#isDrawn) this.#stream?.write('\r\u001B[K')
    this.#isDrawn = false
  }

  #countText(): string {
    return `${this.#done} of ${this.#total}`
  }

  #draw(): void {
    const filled = this.#total === 0 ? barWidth : Math.min(barWidth, Math.round((this.#done / this.#total) * barWidth))
    const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled)
    this.#stream!.write(`\r\u001B[K${this.#title} ${bar} ${this.#countText()}`)
    this.#isDrawn = true
  }
}
