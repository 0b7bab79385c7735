import { LastseenError, NetworkError, ValidationError } from '../errors.ts'
import { UsageError } from './errors.ts'

/** The part of a writable stream that the command line needs. */
export interface Stream {
  write(text: string): unknown
  isTTY?: boolean
  columns?: number
}

/** Replaces control characters, because text from the server must not control the terminal. */
// eslint-disable-next-line no-control-regex
const sanitize = (text: string): string => text.replace(/[\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]+/g, ' ')

/** Formats a value for people: a dash when it is empty, a list on one line. */
function formatCell(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(formatCell).join(', ')
  return sanitize(typeof value === 'string' ? value : JSON.stringify(value))
}

const lengthOf = (text: string): number => Array.from(text).length
const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - lengthOf(text)))

export type Row = Record<string, unknown>

/** Prints the result of a command: a table for people, or one JSON document for programs. Notes go to stderr. */
export class Output {
  readonly isJson: boolean
  readonly stdout: Stream
  readonly stderr: Stream

  constructor(isJson: boolean, stdout: Stream, stderr: Stream) {
    this.isJson = isJson
    this.stdout = stdout
    this.stderr = stderr
  }

  json(value: unknown): void {
    this.stdout.write(`${JSON.stringify(value)}\n`)
  }

  /** Prints rows under a line of column names. */
  table(columns: readonly string[], rows: readonly Row[]): void {
    const lines = [
      columns.map((name) => name.toUpperCase().replaceAll('_', ' ')),
      ...rows.map((row) => columns.map((name) => formatCell(row[name]))),
    ]
    const widths = columns.map((_name, index) => Math.max(...lines.map((line) => lengthOf(line[index]!))))
    for (const line of lines)
      this.stdout.write(
        `${line
          .map((text, index) => pad(text, widths[index]!))
          .join('  ')
          .trimEnd()}\n`,
      )
  }

  /** Prints one record, with one line per field. */
  record(fields: Row): void {
    const width = Math.max(...Object.keys(fields).map(lengthOf))
    for (const [name, value] of Object.entries(fields)) this.stdout.write(`${pad(name, width)}  ${formatCell(value)}\n`)
  }

  /** Prints a note for people; with --json it prints nothing. */
  note(text: string): void {
    if (!this.isJson) this.stderr.write(`${sanitize(text)}\n`)
  }

  error(error: unknown): void {
    if (this.isJson) this.stderr.write(`${JSON.stringify({ error: toJson(error) })}\n`)
    else this.stderr.write(`${toLines(error).map(sanitize).join('\n')}\n`)
  }
}

function errorType(error: unknown): string {
  if (error instanceof NetworkError) return 'network_error'
  return error instanceof UsageError ? 'usage_error' : 'command_error'
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function toJson(error: unknown): Row {
  if (!(error instanceof LastseenError)) return { type: errorType(error), detail: messageOf(error) }
  const { status, type, message: detail, requestId: request_id } = error
  return { type, status, detail, request_id, ...(error instanceof ValidationError ? { fields: error.fields } : {}) }
}

/** The error with its invalid fields and the request id, by which the server's log is searched. */
function toLines(error: unknown): string[] {
  if (!(error instanceof LastseenError)) return [messageOf(error)]
  const fields = error instanceof ValidationError ? error.fields : []
  return [
    `The server rejected the request (${error.status} ${error.type}): ${error.message}`,
    ...fields.map(({ field, code, message }) => `  ${field}: ${message} (${code})`),
    ...(error.requestId === null ? [] : [`  request id ${error.requestId}`]),
  ]
}
