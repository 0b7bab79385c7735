import { LastseenError, NetworkError } from '../errors.ts'
import { Lastseen } from '../lastseen.ts'
import { version } from '../version.ts'
import { account } from './account.ts'
import type { Context } from './context.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'
import { Output } from './output.ts'
import { recordCommands } from './records.ts'
import { readSettings } from './settings.ts'
import { tracking } from './tracking.ts'
import { CommandError, UsageError } from './problems.ts'
import { type Command, runCommand } from './usage.ts'

const commands: readonly Command[] = [
  ...recordCommands('assets'),
  ...tracking.filter(({ words }) => words.startsWith('assets ')),
  ...recordCommands('locations'),
  ...tracking.filter(({ words }) => !words.startsWith('assets ')),
  importCommand,
  exportCommand,
  ...account,
]

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
  const context: Context = { out, env: process.env, client: () => openClient(out) }
  try {
    await runCommand(commands, context, argv)
    return 0
  } catch (error) {
    return codeOf(error, out)
  }
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
