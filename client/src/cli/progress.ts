import type { Stream } from './output.ts'

const barWidth = 24

/** How far long work has come: a bar that redraws itself on a terminal, now and then a line elsewhere. */
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
    const pauseMs = this.#stream?.isTTY === true ? 100 : 5000
    if (this.#stream === null || this.#millis() - this.#shownAtMs < pauseMs) return
    // Elsewhere than on a terminal nobody wants a line about work that is over in a moment.
    const isFirst = this.#shownAtMs === Number.NEGATIVE_INFINITY
    this.#shownAtMs = this.#millis()
    if (this.#stream.isTTY === true) this.#draw()
    else if (!isFirst) this.#stream.write(`${this.#title}: ${this.#counted()}\n`)
  }

  /** Takes the bar away, so that what is said next stands on a clean line. */
  end(): void {
    if (this.#isDrawn) this.#stream?.write('\r\u001B[K')
    this.#isDrawn = false
  }

  #counted(): string {
    return `${this.#done} of ${this.#total}`
  }

  #draw(): void {
    const filled = this.#total === 0 ? barWidth : Math.min(barWidth, Math.round((this.#done / this.#total) * barWidth))
    const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled)
    this.#stream!.write(`\r\u001B[K${this.#title} ${bar} ${this.#counted()}`)
    this.#isDrawn = true
  }
}
