import { Command as Program, CommanderError, Option as ProgramOption } from 'commander'
import { version } from '../version.ts'
import type { Context } from './context.ts'
import { UsageError } from './problems.ts'

export interface Option {
  type: 'string' | 'boolean'
  /** May be given several times. */
  multiple?: boolean
  /** What stands behind it, in the help. */
  value?: string
  about: string
}

export type Values = Record<string, string | boolean | string[] | undefined>

export interface Command {
  /** `assets list` */
  words: string
  /** As commander writes arguments: `<key>`, `<key...>`, `[key]`. */
  takes?: string
  about: string
  options?: Record<string, Option>
  /** More for its help page. */
  more?: string
  run(context: Context, args: string[], values: Values): Promise<void>
}

const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

const collect = (value: string, earlier: string[] | undefined): string[] => [...(earlier ?? []), value]

function programOption(name: string, { type, multiple = false, value = '<value>', about }: Option): ProgramOption {
  const placeholder = value.startsWith('<') ? value : `<${value}>`
  const option = new ProgramOption(type === 'string' ? `--${name} ${placeholder}` : `--${name}`)
  option.description = multiple ? `${about}; may be given several times` : about
  return multiple ? option.argParser(collect) : option
}

const groups: Record<string, string> = {
  assets: 'List, show and change assets.',
  locations: 'List, show and change locations.',
}

const footer = `
The credential comes from LASTSEEN_URL, LASTSEEN_CLIENT_ID and LASTSEEN_CLIENT_SECRET, or from the config file
that \`lastseen login\` writes. Exit codes: 0 done, 1 refused or failed, 2 wrong usage.`

function addCommand(parent: Program, word: string, command: Command, context: Context): void {
  const { takes = '', about, more, options = {} } = command
  const program = parent.command(word).summary(about)
  if (takes !== '') program.arguments(takes)
  program.description([`${capitalized(about)}.`, ...(more === undefined ? [] : [more])].join('\n'))
  const known = Object.entries(options).map(([name, option]) => ({ name, option: programOption(name, option) }))
  for (const { option } of known) program.addOption(option)
  program.action(async () => {
    const given: Values = program.opts()
    const values = Object.fromEntries(known.map(({ name, option }) => [name, given[option.attributeName()]]))
    await command.run(context, program.processedArgs.flat() as string[], values)
  })
}

function programOf(commands: readonly Command[], context: Context): Program {
  const program = new Program('lastseen')
    .description('Works with a Lastseen server through its API.')
    .version(version, '--version', 'print the version')
    .option('--json', 'print one JSON document')
    .helpOption('--help', 'show this help')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    // What goes wrong is reported in one place, as JSON where that was asked for.
    .configureOutput({ writeErr: () => undefined })
    .exitOverride()
  program.addHelpText('after', footer)
  for (const command of commands) {
    const [first = '', second] = command.words.split(' ')
    if (second === undefined) addCommand(program, first, command, context)
    else {
      const group =
        program.commands.find((one) => one.name() === first) ??
        program.command(first).helpCommand(false).description(groups[first]!)
      addCommand(group, second, command, context)
    }
  }
  return program
}

/** Runs the command that the arguments name; wrong usage is a UsageError. */
export async function runCommand(
  commands: readonly Command[],
  context: Context,
  argv: readonly string[],
): Promise<void> {
  try {
    await programOf(commands, context).parseAsync(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // --help and --version have printed what was asked for.
    if (error.exitCode === 0) return
    if (error.code === 'commander.help') throw new UsageError('which command?')
    throw new UsageError(error.message.replace(/^error: /, ''))
  }
}

export function textOf(values: Values, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

export const listOf = (values: Values, name: string): string[] => [values[name] ?? []].flat().map(String)

export function countOf(values: Values, name: string, least: number, most: number): number | undefined {
  const text = textOf(values, name)
  if (text === undefined) return undefined
  if (!/^\d+$/.test(text) || Number(text) < least || Number(text) > most)
    throw new UsageError(`--${name} must be a whole number from ${least} to ${most}`)
  return Number(text)
}

export function truthOf(values: Values, name: string): boolean | undefined {
  const text = textOf(values, name)
  if (text !== undefined && text !== 'true' && text !== 'false') throw new UsageError(`--${name} must be true or false`)
  return text === undefined ? undefined : text === 'true'
}

/** Leaves out what is undefined, so that an option that was not given is not sent. */
export function given<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(kept) as { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }
}
