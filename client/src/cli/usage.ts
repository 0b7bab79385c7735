import { parseArgs } from 'node:util'
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
  /** `<key> [<key> …]` */
  takes?: string
  about: string
  options?: Record<string, Option>
  /** More for its help page. */
  more?: string
  run(context: Context, args: string[], values: Values): Promise<void>
}

const everywhere: Record<string, Option> = {
  json: { type: 'boolean', about: 'print one JSON document' },
  help: { type: 'boolean', about: 'say how it is used' },
}

export function optionsOf({ options = {} }: Command): Record<string, Option> {
  return { ...options, ...everywhere }
}

/** The least and the most words a command takes. */
function arity({ takes = '' }: Command): [least: number, most: number] {
  const parts = takes.match(/<[^>]+>( …)?|\[[^\]]+\]/g) ?? []
  const isOptional = (part: string): boolean => part.startsWith('[')
  const most = takes.includes('…') ? Number.POSITIVE_INFINITY : parts.length
  return [parts.filter((part) => !isOptional(part)).length, most]
}

/** Reads what was given to a command; complains in the words of the person who typed it. */
export function readArguments(command: Command, given: readonly string[]): { args: string[]; values: Values } {
  try {
    const options = Object.fromEntries(
      Object.entries(optionsOf(command)).map(([name, { type, multiple = false }]) => [name, { type, multiple }]),
    )
    const { positionals, values } = parseArgs({ args: [...given], options, allowPositionals: true, strict: true })
    const args = positionals.slice(command.words.split(' ').length)
    const [least, most] = arity(command)
    if (values['help'] !== true && (args.length < least || args.length > most))
      throw new UsageError(`usage: lastseen ${command.words} ${command.takes ?? ''}`.trimEnd())
    return { args, values: values as Values }
  } catch (error) {
    if (error instanceof TypeError && 'code' in error) throw new UsageError(error.message.split('. To specify')[0])
    throw error
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
