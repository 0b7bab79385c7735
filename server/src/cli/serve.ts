import type { Command } from 'commander'
import { configFor, wholeNumber } from './command.ts'

interface ServeOptions {
  workers?: number
  roles?: string
  demo?: boolean
}

/** The server is imported here and not at the top, so that operator commands start faster. */
async function start(options: ServeOptions): Promise<void> {
  const workers = options.workers === undefined ? {} : { LASTSEEN_WORKERS: String(options.workers) }
  const roles = options.roles === undefined ? {} : { LASTSEEN_ROLES: options.roles }
  const config = configFor({ ...workers, ...roles })
  const { serve } = await import('../app/serve.ts')
  await serve(config, options.demo ?? false)
  // A database driver that was closed while it reconnected may still open a connection, which would keep the process alive.
  process.exit()
}

export function addServeCommands(program: Command): void {
  const maxWorkers = wholeNumber(64)
  program
    .command('serve', { isDefault: true })
    .description('serve the API and the web app, receive reads and deliver webhooks (the default command)')
    .option('--workers <count>', 'number of server processes', maxWorkers)
    .option('--roles <list>', 'only these roles: api, ingest, deliver; comma-separated')
    .option('--demo', 'simulate a warehouse in which assets move')
    .allowExcessArguments()
    .action((options: ServeOptions, command: Command) => {
      if (command.args[0] !== undefined) command.error(`error: unknown command '${command.args[0]}'`)
      return start(options)
    })
  program
    .command('ingest')
    .description('only receive messages from readers, over HTTP and MQTT')
    .option('--workers <count>', 'number of processes', maxWorkers)
    .action((options: ServeOptions) => start({ ...options, roles: 'ingest' }))
  program
    .command('deliver')
    .description('only deliver webhooks')
    .option('--workers <count>', 'number of processes', maxWorkers)
    .action((options: ServeOptions) => start({ ...options, roles: 'deliver' }))
}
