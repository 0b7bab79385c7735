import { Command as Program, CommanderError, Option as ProgramOption } from 'commander'
import { version } from '../version.ts'
import type { Context } from './context.ts'
import { UsageError } from './errors.ts'

/** A command-line option. */
export interface Option {
  type: 'string' | 'boolean'
  /** Whether the option may be repeated. */
  multiple?: boolean
  /** The placeholder of its value in the help. */
  value?: string
  summary: string
}

/** The parsed options by name; undefined when an option is absent. */
export type OptionValues = Record<string, string | boolean | string[] | undefined>

export interface Command {
  /** One or two words: `login`, `assets list`. */
  name: string
  /** In commander's syntax: `<key>`, `<key...>`, `[key]`. */
  arguments?: string
  /** One line for the list of commands. */
  summary: string
  options?: Record<string, Option>
  /** Further text for its help page. */
  details?: string
  run(context: Context, args: string[], values: OptionValues): Promise<void>
}

const capitalize = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

const collect = (value: string, previous: string[] | undefined): string[] => [...(previous ?? []), value]

function toCommanderOption(
  name: string,
  { type, multiple = false, value = '<value>', summary }: Option,
): ProgramOption {
  const placeholder = value.startsWith('<') ? value : `<${value}>`
  const option = new ProgramOption(type === 'string' ? `--${name} ${placeholder}` : `--${name}`)
  option.description = multiple ? `${summary}; may be repeated` : summary
  return multiple ? option.argParser(collect) : option
}

const groupDescriptions: Record<string, string> = {
  assets: 'List, show and change assets.',
  locations: 'List, show and change locations.',
}

const footer = (name: string): string => `
The credential comes from LASTSEEN_URL, LASTSEEN_CLIENT_ID and LASTSEEN_CLIENT_SECRET, or from the config file
that \`${name} login\` writes. Exit codes: 0 success, 1 rejected or failed, 2 usage error.`

function addCommand(parent: Program, word: string, command: Command, context: Context): void {
  const { arguments: parameters = '', summary, details, options = {} } = command
  const program = parent.command(word).summary(summary)
  if (parameters !== '') program.arguments(parameters)
  program.description([`${capitalize(summary)}.`, ...(details === undefined ? [] : [details])].join('\n'))
  const declared = Object.entries(options).map(([name, option]) => ({ name, option: toCommanderOption(name, option) }))
  for (const { option } of declared) program.addOption(option)
  program.action(async () => {
    const parsed: OptionValues = program.opts()
    const values = Object.fromEntries(declared.map(({ name, option }) => [name, parsed[option.attributeName()]]))
    await command.run(context, program.processedArgs.flat() as string[], values)
  })
}

function createProgram(name: string, commands: readonly Command[], context: Context): Program {
  const program = new Program(name)
    .description('Uses a Lastseen server through its API.')
    .version(version, '--version', 'print the version')
    .option('--json', 'print one JSON document')
    .helpOption('--help', 'show this help')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    // main.ts reports all errors, with --json as JSON.
    .configureOutput({ writeErr: () => undefined })
    .exitOverride()
  program.addHelpText('after', footer(name))
  for (const command of commands) {
    const [first = '', second] = command.name.split(' ')
    if (second === undefined) addCommand(program, first, command, context)
    else {
      const group =
        program.commands.find((existing) => existing.name() === first) ??
        program.command(first).helpCommand(false).description(groupDescriptions[first]!)
      addCommand(group, second, command, context)
    }
  }
  return program
}

/** Parses the arguments and runs the command. Throws a UsageError on invalid arguments. */
export async function runCommand(
  name: string,
  commands: readonly Command[],
  context: Context,
  argv: readonly string[],
): Promise<void> {
  try {
    await createProgram(name, commands, context).parseAsync(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // --help and --version have printed their output.
    if (error.exitCode === 0) return
    if (error.code === 'commander.help') throw new UsageError('a command is missing')
    throw new UsageError(error.message.replace(/^error: /, ''))
  }
}

export function stringOption(values: OptionValues, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

export const listOption = (values: OptionValues, name: string): string[] => [values[name] ?? []].flat().map(String)

export function integerOption(values: OptionValues, name: string, min: number, max: number): number | undefined {
  const text = stringOption(values, name)
  if (text === undefined) return undefined
  if (!/^\d+$/.test(text) || Number(text) < min || Number(text) > max)
    throw new UsageError(`--${name} must be a whole number from ${min} to ${max}`)
  return Number(text)
}

export function booleanOption(values: OptionValues, name: string): boolean | undefined {
  const text = stringOption(values, name)
  if (text !== undefined && text !== 'true' && text !== 'false') throw new UsageError(`--${name} must be true or false`)
  return text === undefined ? undefined : text === 'true'
}

/** Removes undefined fields, so that absent options are not sent. */
export function withoutUndefined<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(defined) as { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }
}
