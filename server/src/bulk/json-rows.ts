import { apiError } from '../kernel/errors.ts'

/** The text of one row, or null when it was too large to be kept. */
export interface RowText {
  line: number
  text: Buffer | null
}

/** Collects the bytes of one row across chunks, and drops them when there are too many. */
class RowBuffer {
  readonly #maxBytes: number
  #parts: Buffer[] = []
  #size = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get isEmpty(): boolean {
    return this.#size === 0
  }

  add(part: Buffer): void {
    this.#size += part.length
    if (this.#size <= this.#maxBytes) this.#parts.push(part)
    else this.#parts = []
  }

  take(): Buffer | null {
    const text = this.#size > this.#maxBytes ? null : Buffer.concat(this.#parts)
    this.#parts = []
    this.#size = 0
    return text
  }
}

const LINE_FEED = 0x0a

const isBlank = (text: Buffer): boolean => text.every(isWhitespace)

/** The lines of newline-delimited JSON. Blank lines are skipped but counted. */
export async function* ndjsonTexts(chunks: AsyncIterable<Buffer>, maxRowBytes: number): AsyncGenerator<RowText> {
  const row = new RowBuffer(maxRowBytes)
  let line = 1
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      row.add(chunk.subarray(start, end))
      const text = row.take()
      if (text === null || !isBlank(text)) yield { line, text }
      line++
      start = end + 1
    }
    row.add(chunk.subarray(start))
  }
  if (row.isEmpty) return
  const text = row.take()
  if (text === null || !isBlank(text)) yield { line, text }
}

const [OPEN, CLOSE, COMMA, QUOTE, BACKSLASH] = [0x5b, 0x5d, 0x2c, 0x22, 0x5c] as const
const [OPEN_BRACE, CLOSE_BRACE] = [0x7b, 0x7d] as const

function isWhitespace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

const notJson = 'Request body is not valid JSON'

/**
 * The elements of a JSON array, numbered from 1. Only the limits of elements are found here; whether an element is valid is
 * left to its parser. The bytes of a multi-byte UTF-8 sequence never equal one of the characters that are compared.
 */
export async function* arrayTexts(chunks: AsyncIterable<Buffer>, maxRowBytes: number): AsyncGenerator<RowText> {
  const row = new RowBuffer(maxRowBytes)
  let position = 'before' as 'before' | 'inside' | 'after'
  let depth = 0
  let isString = false
  let isEscaped = false
  let line = 1
  for await (const chunk of chunks) {
    let start = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (position !== 'inside') {
        if (isWhitespace(byte)) continue
        if (position === 'after') throw apiError.badRequest(notJson)
        if (byte !== OPEN) throw apiError.badRequest('Request body could not be decoded as the expected type')
        position = 'inside'
        start = at + 1
      } else if (isString) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) isString = false
      } else if (byte === QUOTE) isString = true
      else if (byte === OPEN || byte === OPEN_BRACE) depth++
      else if (depth > 0 && (byte === CLOSE || byte === CLOSE_BRACE)) depth--
      else if (depth === 0 && (byte === COMMA || byte === CLOSE)) {
        row.add(chunk.subarray(start, at))
        start = at + 1
        const text = row.take()
        const isEmpty = text !== null && isBlank(text)
        if (byte === CLOSE) position = 'after'
        if (!isEmpty) yield { line: line++, text }
        else if (byte === COMMA || line > 1) throw apiError.badRequest(notJson)
      }
    }
    if (position === 'inside') row.add(chunk.subarray(start))
  }
  if (position !== 'after') throw apiError.badRequest(notJson)
}
