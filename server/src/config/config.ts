import { readFileSync } from 'node:fs'
import { type Setting, type Settings, settings } from './settings.ts'

export type Config = { readonly [K in keyof Settings]: Settings[K] extends Setting<infer T> ? T : never }

/** Reports all problems of the settings at once. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`Lastseen cannot start with these settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
  }
}

type Environment = Readonly<Record<string, string | undefined>>

const knownNames = new Set(
  Object.values(settings).flatMap((setting: Setting<unknown>) =>
    setting.secret ? [setting.name, `${setting.name}_FILE`] : [setting.name],
  ),
)

/** A secret may be read from a file, whose path is in the variable with the suffix `_FILE`. */
function textOf(setting: Setting<unknown>, environment: Environment): string {
  const file = setting.secret ? environment[`${setting.name}_FILE`] : undefined
  if (file === undefined || file === '') return environment[setting.name] || setting.fallback
  if (environment[setting.name]) throw new Error(`is set together with ${setting.name}_FILE`)
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
  const config: Record<string, unknown> = {}
  for (const [key, setting] of Object.entries(settings) as [string, Setting<unknown>][]) {
    try {
      config[key] = setting.parse(textOf(setting, environment))
    } catch (error) {
      const shownValue = setting.secret ? '' : ` ${JSON.stringify(environment[setting.name])}`
      problems.push(`${setting.name}${shownValue}: ${(error as Error).message}`)
    }
  }
  for (const [name, value] of Object.entries(environment))
    if (value !== undefined && name.startsWith('LASTSEEN_') && !knownNames.has(name))
      problems.push(`${name}: no such setting`)
  if ((config['tlsCert'] === null) !== (config['tlsKey'] === null))
    problems.push('LASTSEEN_TLS_CERT and LASTSEEN_TLS_KEY: expected both or neither')
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(config) as Config
}
