import { type Command, type Option, optionsOf } from './usage.ts'

const columns = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n')
}

const intro = `Works with a Lastseen server through its API.`

const credentials = `The credential comes from LASTSEEN_URL, LASTSEEN_CLIENT_ID and LASTSEEN_CLIENT_SECRET, or from the config file
that \`lastseen login\` writes. Exit codes: 0 done, 1 refused or failed, 2 wrong usage.`

/** All commands, or those that begin with the same word. */
export function overview(commands: readonly Command[], word?: string): string {
  const shown = commands.filter(({ words }) => word === undefined || words.split(' ')[0] === word)
  const rows = shown.map(({ words, takes = '', about }) => [`lastseen ${words} ${takes}`.trimEnd(), about] as const)
  return `${intro}\n\n${columns(rows)}\n\nEach says more with --help.\n${credentials}\n`
}

const flag = ([name, { value, multiple }]: [string, Option]): string =>
  `--${name}${value === undefined ? '' : ` ${value}`}${multiple === true ? ' …' : ''}`

export function page(command: Command): string {
  const { words, takes = '', about, more } = command
  const rows = Object.entries(optionsOf(command)).map((one) => [flag(one), one[1].about] as const)
  const usage = `lastseen ${words} ${takes}`.trimEnd()
  const title = `${about.charAt(0).toUpperCase()}${about.slice(1)}.`
  return `usage: ${usage} [options]\n\n${title}\n${more === undefined ? '' : `${more}\n`}\n${columns(rows)}\n`
}
