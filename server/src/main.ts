import { readFileSync } from 'node:fs'
import { Command, InvalidArgumentError } from 'commander'
import * as admin from './app/admin.ts'
import { backUpTo, restoreFrom } from './app/backup.ts'
import { distributeDatabase, openDatabase, prepareDatabase } from './app/core.ts'
import { createReaderIn, showInbox } from './app/readers.ts'
import type { SimulateOptions } from './app/simulate.ts'
import * as webhooks from './app/webhook-admin.ts'
import { type Config, ConfigError, readConfig } from './config/config.ts'
import { Refusal } from './kernel/errors.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

/** Picks the role of this process: the server, or one command of the operator. */
const program = new Command('lastseen')
  .description('Knows where things are.')
  .version(version, '--version', 'print the version')
  .option('--json', 'print one JSON document')
  .addHelpText('after', '\nWith a server through its API: assets, locations, where, import, export, login, whoami')
  .configureOutput({ outputError: (text, write) => write(`${text.trimEnd()} (--help tells more)\n`) })

const config = (overrides: Record<string, string | undefined> = {}): Config =>
  readConfig({ ...process.env, LASTSEEN_WORKER: undefined, ...overrides })

const progress = (line: string): void => {
  if (!program.opts<{ json?: boolean }>().json) process.stderr.write(`${line}\n`)
}

const count =
  (max: number) =>
  (text: string): number => {
    if (!/^[1-9]\d*$/.test(text) || Number(text) > max)
      throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`)
    return Number(text)
  }

function plainly(value: unknown): string {
  if (Array.isArray(value)) return value.map(plainly).join(', ')
  if (value === null || value === undefined) return '-'
  if (typeof value !== 'object') return typeof value === 'string' ? value : JSON.stringify(value)
  return Object.entries(value)
    .map(([key, one]) => `${key} ${plainly(one)}`)
    .join(', ')
}

function show(facts: admin.Facts | admin.Facts[], isJson: boolean): void {
  if (isJson) return void process.stdout.write(`${JSON.stringify(facts)}\n`)
  const width = Math.max(...[facts].flat().flatMap((one) => Object.keys(one).map((key) => key.length)))
  const blocks = [facts].flat().map((one) =>
    Object.entries(one)
      .map(([key, value]) => `${key.padEnd(width)}  ${plainly(value)}`)
      .join('\n'),
  )
  process.stdout.write(`${blocks.join('\n\n')}\n`)
}

/** Runs an operator command against the database and shows what came of it. */
function run<Options extends object>(
  work: (core: Parameters<typeof admin.createOrg>[0], options: Options) => Promise<admin.Facts | admin.Facts[]>,
) {
  return async (options: Options, command: Command): Promise<void> => {
    const isJson = Boolean(command.optsWithGlobals<{ json?: boolean }>().json)
    const quiet = isJson ? (): void => undefined : progress
    show(await admin.withCore(config(), quiet, (core) => work(core, options)), isJson)
  }
}

const jsonFlag = ['--json', 'print one JSON document'] as const

interface ServeOptions {
  workers?: number
  roles?: string
  demo?: boolean
}

/** Loaded only when it is wanted: a command of the operator should not wait for all that a server needs. */
const start = async (options: ServeOptions): Promise<void> => {
  const workers = options.workers === undefined ? {} : { LASTSEEN_WORKERS: String(options.workers) }
  const roles = options.roles === undefined ? {} : { LASTSEEN_ROLES: options.roles }
  const settings = config({ ...workers, ...roles })
  const { serve } = await import('./app/serve.ts')
  await serve(settings, options.demo ?? false)
  // All is closed. A driver that was closed while it looked for a lost server may still connect, and would stay for ever.
  process.exit()
}

program
  .command('serve', { isDefault: true })
  .description('serve the API and the web app, take in what readers send, deliver webhooks')
  .option('--workers <count>', 'server processes', count(64))
  .option('--roles <list>', 'only some of it: api, ingest, deliver; comma-separated')
  .option('--demo', 'play a simulated warehouse whose readers move things')
  .allowExcessArguments()
  .action((options: ServeOptions, command: Command) => {
    if (command.args[0] !== undefined) command.error(`error: unknown command '${command.args[0]}'`)
    return start(options)
  })
program
  .command('ingest')
  .description('only take in what readers send, over HTTP and MQTT')
  .option('--workers <count>', 'processes', count(64))
  .action((options: ServeOptions) => start({ ...options, roles: 'ingest' }))
program
  .command('deliver')
  .description('only deliver webhooks')
  .option('--workers <count>', 'processes', count(64))
  .action((options: ServeOptions) => start({ ...options, roles: 'deliver' }))

program
  .command('migrate')
  .description('bring the database schema up to date and stop')
  .action(async () => {
    const settings = config()
    const database = await openDatabase(settings, progress)
    try {
      if ((await prepareDatabase(settings, database.url, progress)) === 0) progress('The database schema is up to date')
    } finally {
      await database.release()
    }
  })

program
  .command('distribute')
  .description('distribute the database over the nodes of a Citus cluster')
  .option(...jsonFlag)
  .action(async (_options: object, command: Command) => {
    const isJson = Boolean(command.optsWithGlobals<{ json?: boolean }>().json)
    show({ ...(await distributeDatabase(config(), isJson ? () => undefined : progress)) }, isJson)
  })

/** For commands that work on a database as it is, whatever its schema. */
const runOn =
  <Options>(work: (file: string, options: Options, tell: (line: string) => void) => Promise<admin.Facts>) =>
  async (file: string, options: Options, command: Command): Promise<void> => {
    const isJson = Boolean(command.optsWithGlobals<{ json?: boolean }>().json)
    show(await work(file, options, isJson ? () => undefined : progress), isJson)
  }

program
  .command('backup')
  .description('write everything there is into a file, while the service goes on')
  .argument('<file>')
  .option(...jsonFlag)
  .action(runOn((file, _options, tell) => backUpTo(config(), file, version, tell)))
program
  .command('restore')
  .description('fill an empty database from a backup')
  .argument('<file>')
  .option('--replace', 'throw away what the database holds')
  .option(...jsonFlag)
  .action(
    runOn((file, options: { replace?: boolean }, tell) => restoreFrom(config(), file, options.replace ?? false, tell)),
  )

const org = program.command('org').description('organizations')
org
  .command('create')
  .requiredOption('--name <name>')
  .option(...jsonFlag)
  .action(run((core, options: { name: string }) => admin.createOrg(core, options)))
org
  .command('lapse')
  .description('drop its webhook events from now on')
  .requiredOption('--name <name>')
  .option(...jsonFlag)
  .action(run((core, options: { name: string }) => admin.setLapse(core, options, true)))
org
  .command('reinstate')
  .requiredOption('--name <name>')
  .option(...jsonFlag)
  .action(run((core, options: { name: string }) => admin.setLapse(core, options, false)))

const user = program.command('user').description('people who sign in')
user
  .command('create')
  .requiredOption('--org <name>')
  .requiredOption('--email <address>')
  .requiredOption('--role <role>', 'viewer, operator, manager or admin')
  .option('--password <password>', 'made up and printed when absent')
  .option(...jsonFlag)
  .action(run(admin.createUserIn))
user
  .command('add')
  .description('give someone who has an account a role in an organization')
  .requiredOption('--org <name>')
  .requiredOption('--email <address>')
  .requiredOption('--role <role>', 'viewer, operator, manager or admin')
  .option(...jsonFlag)
  .action(run(admin.addUserTo))

const key = program.command('key').description('API credentials')
key
  .command('create')
  .requiredOption('--org <name>')
  .requiredOption('--name <name>')
  .requiredOption('--scopes <list>', 'comma-separated')
  .option('--expires-at <time>', 'RFC 3339; never when absent')
  .option('--count <count>', 'how many; the result is then a list', count(10_000))
  .option(...jsonFlag)
  .action(
    run(async (core, { count, ...options }: admin.KeyOptions & { count?: number }) => {
      const keys = await admin.createKeys(core, options, count ?? 1)
      return count === undefined ? keys[0]! : keys
    }),
  )
key
  .command('revoke')
  .requiredOption('--client-id <uuid>')
  .option(...jsonFlag)
  .action(run(admin.revokeKey))

const collect = (text: string, all: string[]): string[] => [...all, text]

const reader = program.command('reader').description('devices that report what they read')
reader
  .command('create')
  .requiredOption('--org <name>')
  .requiredOption('--name <name>')
  .option('--antenna <number=key>', 'where an antenna looks; repeat it; `2=` for no place', collect, [])
  .option('--format <format>', 'what it sends', 'auto')
  .option('--clock <clock>', 'whose clock stamps its reads: reader, server or sent_at', 'reader')
  .option(
    '--smoothing <rule>',
    'when to believe a change of place, such as reads=3,seconds=30,margin_db=6; off if absent',
  )
  .option(...jsonFlag)
  .action(run(createReaderIn))
reader
  .command('inbox')
  .description('topics of your own broker that lead to no reader')
  .option(...jsonFlag)
  .action(run(showInbox))

const webhook = program.command('webhook').description('the endpoint that is told of moves')
webhook
  .command('create')
  .requiredOption('--org <name>')
  .requiredOption('--url <address>', 'https')
  .option('--disabled', 'registered, but not delivered to yet')
  .option(...jsonFlag)
  .action(run(webhooks.createWebhookIn))
webhook
  .command('show')
  .requiredOption('--org <name>')
  .option(...jsonFlag)
  .action(run(webhooks.showWebhook))
webhook
  .command('update')
  .requiredOption('--org <name>')
  .option('--url <address>', 'https')
  .option('--enable', 'deliver events from now on')
  .option('--disable', 'drop events from now on')
  .option(...jsonFlag)
  .action(run(webhooks.updateWebhookIn))
webhook
  .command('delete')
  .requiredOption('--org <name>')
  .option(...jsonFlag)
  .action(run(webhooks.deleteWebhookIn))
webhook
  .command('test')
  .description('send a test event')
  .requiredOption('--org <name>')
  .option(...jsonFlag)
  .action(run(webhooks.testWebhook))

program
  .command('simulate')
  .description('play a warehouse through a running server')
  .requiredOption('--org <name>')
  .option('--url <address>', 'the running server', 'http://127.0.0.1:8080')
  .option('--assets <count>', 'how many things there are', count(100_000), 300)
  .option('--rate <reads>', 'reads a second', count(10_000), 5)
  .option('--days <count>', 'days of history filled in first', count(400), 3)
  .option('--seconds <count>', 'stop after so long; never when absent', count(1_000_000))
  .option('--format <format>', 'what the readers send', 'generic')
  .option('--seed <number>', 'the same seed plays the same site', count(2 ** 31), 7)
  .option(...jsonFlag)
  .action(
    run(async (core, options: Omit<SimulateOptions, 'seconds'> & { seconds?: number }) => {
      const stop = new AbortController()
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
      const { simulate } = await import('./app/simulate.ts')
      return simulate(core, { ...options, seconds: options.seconds ?? null }, progress, stop.signal)
    }),
  )

function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof admin.OperatorError || error instanceof Refusal)
    return error.message
  if (!(error instanceof Error)) return String(error)
  return process.env['LASTSEEN_LOG_LEVEL'] === 'debug' ? (error.stack ?? error.message) : error.message
}

try {
  await program.parseAsync()
} catch (error) {
  process.stderr.write(`${explain(error)}\n`)
  process.exitCode = 1
}
