import { Command, CommanderError } from 'commander'
import { OperatorError, UsageError } from '../app/operator.ts'
import { ConfigError } from '../config/config.ts'
import { ApiError } from '../kernel/errors.ts'
import { version } from '../kernel/version.ts'
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

const moreHelp = `
Commands for users of a running server, through its API:
  assets, locations, where, import, export, login, whoami   (lastseen assets --help)

"lastseen org --help" lists the commands for organizations, and so on. Settings are environment variables:
docs/operating/settings.md. Exit codes: 0 success, 1 failure, 2 invalid usage.`

/** Subcommands inherit the settings of their parent when they are added, so the settings come first. */
export function newProgram(): Command {
  const program = new Command('lastseen')
    .description('Lastseen knows where physical things are. Without a command, it starts the server.')
    .version(version, '--version', 'print the version')
    .option(...jsonOption)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`${text.trimEnd()} (see --help)\n`) })
    .helpCommand(false)
    .addHelpText('after', moreHelp)
  program.commandsGroup('Servers:')
  addServeCommands(program)
  program.commandsGroup('Operator commands, with or without a running server:')
  addOrgCommands(program)
  addUserCommands(program)
  addKeyCommands(program)
  addSigningKeyCommands(program)
  addReaderCommands(program)
  addWebhookCommands(program)
  addSimulateCommand(program)
  program.commandsGroup('Database commands:')
  addDatabaseCommands(program, version)
  return program
}

function errorText(error: unknown): string {
  if (error instanceof ConfigError || error instanceof OperatorError || error instanceof ApiError) return error.message
  if (!(error instanceof Error)) return String(error)
  return process.env['LASTSEEN_LOG_LEVEL'] === 'debug' ? (error.stack ?? error.message) : error.message
}

/** Runs one command. Returns the exit code: 0 for success, 1 for failure, 2 for an invalid command line. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  try {
    await newProgram().parseAsync(argv)
    return 0
  } catch (error) {
    // Commander has already printed the help, the version or the error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    process.stderr.write(`${errorText(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}
