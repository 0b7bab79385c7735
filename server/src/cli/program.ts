import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { OperatorError, UsageError } from '../app/operator.ts'
import { ConfigError } from '../config/config.ts'
import { ApiError } from '../kernel/errors.ts'
import { jsonOption } from './command.ts'
import { addDatabaseCommands } from './database.ts'
import { addKeyCommands } from './key.ts'
import { addOrgCommands } from './org.ts'
import { addReaderCommands } from './reader.ts'
import { addServeCommands } from './serve.ts'
import { addSigningKeyCommands } from './signing-key.ts'
import { addSimulateCommand } from './simulate.ts'
import { addUserCommands } from './user.ts'
import { addWebhookCommands } from './webhook.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

const moreHelp = `
Commands for users of a running server, through its API:
  assets, locations, where, import, export, login, whoami   (lastseen assets --help)

"lastseen org --help" lists the commands for organizations, and so on. Settings are environment variables:
docs/operating.md. Exit codes: 0 done, 1 failed, 2 wrong usage.`

/** Settings of a command hold for those that are added to it, so these come first. */
export function newProgram(): Command {
  const program = new Command('lastseen')
    .description('Lastseen knows where physical things are. Without a command it serves.')
    .version(version, '--version', 'print the version')
    .option(...jsonOption)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`${text.trimEnd()} (--help tells more)\n`) })
    .helpCommand(false)
    .addHelpText('after', moreHelp)
  program.commandsGroup('Servers:')
  addServeCommands(program)
  program.commandsGroup('Operator commands, beside a running server or without one:')
  addOrgCommands(program)
  addUserCommands(program)
  addKeyCommands(program)
  addSigningKeyCommands(program)
  addReaderCommands(program)
  addWebhookCommands(program)
  addSimulateCommand(program)
  program.commandsGroup('The database:')
  addDatabaseCommands(program, version)
  return program
}

function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof OperatorError || error instanceof ApiError) return error.message
  if (!(error instanceof Error)) return String(error)
  return process.env['LASTSEEN_LOG_LEVEL'] === 'debug' ? (error.stack ?? error.message) : error.message
}

/** Runs one command. The exit code is 0 when it is done, 1 when it failed, 2 when the command line is wrong. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  try {
    await newProgram().parseAsync(argv)
    return 0
  } catch (error) {
    // Commander has printed the help, the version or the problem already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    process.stderr.write(`${explain(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}
