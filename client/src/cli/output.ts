import { LastseenError, NetworkError, ValidationError } from '../errors.ts'
import { UsageError } from './problems.ts'

export interface Stream {
  write(text: string): unknown
  isTTY?: boolean
  columns?: number
}

/** Text from a server must not steer the terminal. */
// eslint-disable-next-line no-control-regex
const plain = (text: string): string => text.replace(/[\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]+/g, ' ')

/** For people: nothing is a dash, a list stands in one line. */
function cell(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(cell).join(', ')
  return plain(typeof value === 'string' ? value : JSON.stringify(value))
}

const lengthOf = (text: string): number => Array.from(text).length
const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - lengthOf(text)))

export type Row = Record<string, unknown>

/** Where a command's result goes: a table for people, or one JSON document for programs. Remarks go to stderr. */
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

  /** Rows under the names of their columns. */
  table(columns: readonly string[], rows: readonly Row[]): void {
    const lines = [
      columns.map((name) => name.toUpperCase().replaceAll('_', ' ')),
      ...rows.map((row) => columns.map((name) => cell(row[name]))),
    ]
    const widths = columns.map((_name, at) => Math.max(...lines.map((line) => lengthOf(line[at]!))))
    for (const line of lines)
      this.stdout.write(
        `${line
          .map((text, at) => pad(text, widths[at]!))
          .join('  ')
          .trimEnd()}\n`,
      )
  }

  /** One thing, a line for each of its fields. */
  facts(facts: Row): void {
    const width = Math.max(...Object.keys(facts).map(lengthOf))
    for (const [name, value] of Object.entries(facts)) this.stdout.write(`${pad(name, width)}  ${cell(value)}\n`)
  }

  /** A remark for people. */
  note(text: string): void {
    if (!this.isJson) this.stderr.write(`${plain(text)}\n`)
  }

  error(error: unknown): void {
    if (this.isJson) this.stderr.write(`${JSON.stringify({ error: described(error) })}\n`)
    else this.stderr.write(`${explained(error).map(plain).join('\n')}\n`)
  }
}

function kindOf(error: unknown): string {
  if (error instanceof NetworkError) return 'network_error'
  return error instanceof UsageError ? 'usage_error' : 'command_error'
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function described(error: unknown): Row {
  if (!(error instanceof LastseenError)) return { type: kindOf(error), detail: messageOf(error) }
  const { status, type, message: detail, requestId: request_id } = error
  return { type, status, detail, request_id, ...(error instanceof ValidationError ? { fields: error.fields } : {}) }
}

/** In plain words, with all that is needed to find the request again. */
function explained(error: unknown): string[] {
  if (!(error instanceof LastseenError)) return [messageOf(error)]
  const fields = error instanceof ValidationError ? error.fields : []
  return [
    `The server refused (${error.status} ${error.type}): ${error.message}`,
    ...fields.map(({ field, code, message }) => `  ${field}: ${message} (${code})`),
    ...(error.requestId === null ? [] : [`  request id ${error.requestId}`]),
  ]
}
