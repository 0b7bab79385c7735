import { readFileSync } from 'node:fs'
import { type Setting, type Settings, settings } from './settings.ts'

export type Config = { readonly [K in keyof Settings]: Settings[K] extends Setting<infer T> ? T : never }

/** Everything that is wrong with the settings, so that one start tells all of it. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`Lastseen cannot start with these settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
  }
}

type Environment = Readonly<Record<string, string | undefined>>

const known = new Set(
  Object.values(settings).flatMap((row: Setting<unknown>) =>
    row.secret ? [row.name, `${row.name}_FILE`] : [row.name],
  ),
)

/** A secret may stand in a file instead, named by the setting with `_FILE` behind it. */
function textOf(row: Setting<unknown>, environment: Environment): string {
  const file = row.secret ? environment[`${row.name}_FILE`] : undefined
  if (file === undefined || file === '') return environment[row.name] || row.fallback
  if (environment[row.name]) throw new Error(`is set together with ${row.name}_FILE`)
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Error(`cannot be read from ${file} (${(error as NodeJS.ErrnoException).code})`)
  }
  if (text === '') throw new Error(`cannot be read from ${file}: the file is empty`)
  return text
}

export function readConfig(environment: Environment): Config {
  const problems: string[] = []
  const result: Record<string, unknown> = {}
  for (const [key, row] of Object.entries(settings) as [string, Setting<unknown>][]) {
    try {
      result[key] = row.parse(textOf(row, environment))
    } catch (error) {
      const shown = row.secret ? '' : ` ${JSON.stringify(environment[row.name])}`
      problems.push(`${row.name}${shown}: ${(error as Error).message}`)
    }
  }
  for (const [name, value] of Object.entries(environment))
    if (value !== undefined && name.startsWith('LASTSEEN_') && !known.has(name))
      problems.push(`${name}: no such setting`)
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(result) as Config
}
