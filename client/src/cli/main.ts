import { LastseenError, NetworkError } from '../errors.ts'
import { Lastseen } from '../lastseen.ts'
import { version } from '../version.ts'
import { accountCommands } from './account.ts'
import type { Context } from './context.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'
import { Output } from './output.ts'
import { recordCommands } from './records.ts'
import { readSettings } from './settings.ts'
import { trackingCommands } from './tracking.ts'
import { CommandError, UsageError } from './errors.ts'
import { type Command, runCommand } from './args.ts'

const commands: readonly Command[] = [
  ...recordCommands('assets'),
  ...trackingCommands.filter(({ name }) => name.startsWith('assets ')),
  ...recordCommands('locations'),
  ...trackingCommands.filter(({ name }) => !name.startsWith('assets ')),
  importCommand,
  exportCommand,
  ...accountCommands,
]

function createClient(out: Output): Lastseen {
  const { url, clientId, clientSecret } = readSettings(process.env, (text) => out.note(text))
  // `--all` may send many requests, and the rate limit admits one a second: the command waits instead of failing.
  const limits = { rateLimitAttempts: 100 }
  return new Lastseen({ baseUrl: url, clientId, clientSecret, userAgent: `lastseen-cli/${version}`, ...limits })
}

/** Exits without an error when the reader of a pipe closes it, as `head` does. */
function exitOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
}

/** Runs one command and returns the exit code: 0 success, 1 rejected or failed, 2 usage error. The help shows `name`. */
export async function main(argv: readonly string[], name = 'lastseen'): Promise<number> {
  exitOnClosedPipe()
  const out = new Output(argv.includes('--json'), process.stdout, process.stderr)
  const context: Context = { out, env: process.env, client: () => createClient(out) }
  try {
    await runCommand(name, commands, context, argv)
    return 0
  } catch (error) {
    return reportError(error, out)
  }
}

/** Prints the error and returns the exit code. Throws unexpected errors. */
function reportError(error: unknown, out: Output): number {
  if (error instanceof UsageError) {
    out.error(out.isJson ? error : new UsageError(`${error.message} (see --help)`))
    return 2
  }
  const isExpected = [LastseenError, NetworkError, CommandError].some((expected) => error instanceof expected)
  // For example a file that cannot be written.
  const isSystemError = error instanceof Error && 'syscall' in error
  if (!isExpected && !isSystemError) throw error
  out.error(error)
  return 1
}
