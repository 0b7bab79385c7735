import { LastseenError, NetworkError } from '../errors.ts'
import { Lastseen } from '../lastseen.ts'
import { version } from '../version.ts'
import { account } from './account.ts'
import type { Context } from './context.ts'
import { exportCommand } from './export.ts'
import { overview, page } from './help.ts'
import { importCommand } from './import.ts'
import { Output } from './output.ts'
import { recordCommands } from './records.ts'
import { readSettings } from './settings.ts'
import { tracking } from './tracking.ts'
import { CommandError, UsageError } from './problems.ts'
import { type Command, readArguments } from './usage.ts'

const commands: readonly Command[] = [
  ...recordCommands('assets'),
  ...tracking.filter(({ words }) => words.startsWith('assets ')),
  ...recordCommands('locations'),
  ...tracking.filter(({ words }) => !words.startsWith('assets ')),
  importCommand,
  exportCommand,
  ...account,
]

/** The command that the first words name. */
function commandOf(argv: readonly string[]): Command | undefined {
  const words = argv.filter((one) => !one.startsWith('-'))
  return commands.find((one) => one.words === words.slice(0, one.words.split(' ').length).join(' '))
}

function unknown(words: readonly string[]): UsageError {
  const isWord = commands.some((one) => one.words.split(' ')[0] === words[0])
  const name = words.slice(0, isWord ? 2 : 1).join(' ')
  return new UsageError(words.length === 0 ? 'which command?' : `there is no command '${name}'`)
}

function openClient(out: Output): Lastseen {
  const { url, clientId, clientSecret } = readSettings(process.env, (text) => out.note(text))
  // A person waits as long as it takes: the bucket of a credential fills by one request a second.
  const waits = { rateLimitAttempts: 100 }
  return new Lastseen({ baseUrl: url, clientId, clientSecret, userAgent: `lastseen-cli/${version}`, ...waits })
}

/** Whoever reads our output may stop reading, as `head` does. */
function endQuietlyWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
}

/** Runs one command and gives the exit code: 0 done, 1 refused or failed, 2 wrong usage. */
export async function main(argv: readonly string[]): Promise<number> {
  endQuietlyWithReader()
  const out = new Output(argv.includes('--json'), process.stdout, process.stderr)
  const words = argv.filter((one) => !one.startsWith('-'))
  const command = commandOf(argv)
  try {
    if (argv.includes('--version') && command === undefined) return say(`${version}\n`)
    if (command === undefined) {
      if (!argv.includes('--help')) throw unknown(words)
      return say(
        overview(commands, commands.some((one) => one.words.split(' ')[0] === words[0]) ? words[0] : undefined),
      )
    }
    const { args, values } = readArguments(command, argv)
    if (values['help'] === true) return say(page(command))
    const context: Context = { out, env: process.env, client: () => openClient(out) }
    await command.run(context, args, values)
    return 0
  } catch (error) {
    return codeOf(error, out)
  }
}

function say(text: string): number {
  process.stdout.write(text)
  return 0
}

function codeOf(error: unknown, out: Output): number {
  if (error instanceof UsageError) {
    out.error(out.isJson ? error : new UsageError(`${error.message} (--help tells more)`))
    return 2
  }
  const isExpected = [LastseenError, NetworkError, CommandError].some((kind) => error instanceof kind)
  // A file that cannot be written, and the like.
  const isOfSystem = error instanceof Error && 'syscall' in error
  if (!isExpected && !isOfSystem) throw error
  out.error(error)
  return 1
}
