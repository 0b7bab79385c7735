import { type Command, InvalidArgumentError } from 'commander'
import type { AppContext } from '../app/context.ts'
import { UsageError, withAppContext } from '../app/operator.ts'
import { type Config, readConfig } from '../config/config.ts'
import { codePointLength, textProblem } from '../kernel/json.ts'
import { type Page, type PageRequest } from '../kernel/page.ts'
import { type Report, render } from './output.ts'

export const configFor = (overrides: Record<string, string | undefined> = {}): Config =>
  readConfig({ ...process.env, LASTSEEN_WORKER: undefined, ...overrides })

/** What every command is told beside its own options. */
export interface Session {
  config: Config
  isJson: boolean
  isInit: boolean
  /** Tells people what is going on, on standard error; programs that read JSON are not told. */
  progress: (line: string) => void
}

export function sessionOf(command: Command): Session {
  const { json = false, init = false } = command.optsWithGlobals<{ json?: boolean; init?: boolean }>()
  const progress = (line: string): void => {
    if (!json) process.stderr.write(`${line}\n`)
  }
  return { config: configFor(), isJson: json, isInit: init, progress }
}

/** A reader of the output that closes the pipe early, as `head` does, ends the command quietly. */
export function print(report: Report, isJson: boolean): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
  process.stdout.write(render(report, isJson))
}

export const jsonOption = ['--json', 'print one JSON document'] as const

/** A command that works on the database; it refuses to create one unless `--init` is given. */
export function operatorCommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option(...jsonOption)
    .option('--init', 'create the database if there is none')
}

/** The action of an operator command: opens the database, does the work and prints its report. */
export const onCore =
  <Options extends object>(work: (context: AppContext, options: Options, session: Session) => Promise<Report>) =>
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
export function checkLine(what: string, text: string): string {
  if (text.trim() === '' || codePointLength(text) > 255) throw new UsageError(`${what} must have 1 to 255 characters`)
  if (textProblem(text) !== null) throw new UsageError(`${what} must not hold line breaks or control characters`)
  return text
}

const pageSize = 200

/** Every row of a list that is read page by page. */
export async function allPages<Row>(load: (page: PageRequest) => Promise<Page<Row>>): Promise<Row[]> {
  const rows: Row[] = []
  for (;;) {
    const page = await load({ limit: pageSize, offset: rows.length })
    rows.push(...page.rows)
    if (page.rows.length < pageSize) return rows
  }
}
