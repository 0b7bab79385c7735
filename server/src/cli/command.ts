import { type Command, InvalidArgumentError } from 'commander'
import type { AppContext } from '../app/context.ts'
import { UsageError, withAppContext } from '../app/operator.ts'
import { type Config, readConfig } from '../config/config.ts'
import { codePointLength, textProblem } from '../kernel/json.ts'
import { type Page, type PageRequest } from '../kernel/page.ts'
import { type Report, render } from './output.ts'

export const configFor = (overrides: Record<string, string | undefined> = {}): Config =>
  readConfig({ ...process.env, LASTSEEN_WORKER: undefined, ...overrides })

/** The settings and common options of a command. */
export interface CommandSession {
  config: Config
  isJson: boolean
  isInit: boolean
  /** Prints a progress line on standard error; does nothing with `--json`. */
  progress: (line: string) => void
}

export function sessionOf(command: Command): CommandSession {
  const { json = false, init = false } = command.optsWithGlobals<{ json?: boolean; init?: boolean }>()
  const progress = (line: string): void => {
    if (!json) process.stderr.write(`${line}\n`)
  }
  return { config: configFor(), isJson: json, isInit: init, progress }
}

/** Prints a report. If the reading end of the pipe is closed early, as by `head`, the command exits without an error. */
export function print(report: Report, isJson: boolean): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
  process.stdout.write(render(report, isJson))
}

export const jsonOption = ['--json', 'print one JSON document'] as const

/** A command that works on the database. It creates the database only with `--init`. */
export function operatorCommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option(...jsonOption)
    .option('--init', 'create the database if it does not exist')
}

/** The action of an operator command: opens the database, runs the work and prints its report. */
export const withContext =
  <Options extends object>(work: (context: AppContext, options: Options, session: CommandSession) => Promise<Report>) =>
  async (options: Options, command: Command): Promise<void> => {
    const session = sessionOf(command)
    print(await withAppContext(session, (context) => work(context, options, session)), session.isJson)
  }

export const wholeNumber =
  (max: number) =>
  (text: string): number => {
    if (!/^[1-9]\d*$/.test(text) || Number(text) > max)
      throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`)
    return Number(text)
  }

/** A name or an address: one line of text. */
export function checkLine(label: string, text: string): string {
  if (text.trim() === '' || codePointLength(text) > 255) throw new UsageError(`${label} must have 1 to 255 characters`)
  if (textProblem(text) !== null) throw new UsageError(`${label} must not contain line breaks or control characters`)
  return text
}

const pageSize = 200

/** Loads all pages of a list. */
export async function allPages<Row>(load: (page: PageRequest) => Promise<Page<Row>>): Promise<Row[]> {
  const rows: Row[] = []
  for (;;) {
    const page = await load({ limit: pageSize, offset: rows.length })
    rows.push(...page.rows)
    if (page.rows.length < pageSize) return rows
  }
}
