import type { Command } from 'commander'
import { configFor, wholeNumber } from './command.ts'

interface ServeOptions {
  workers?: number
  roles?: string
  demo?: boolean
}

/** The server is loaded here and not at the top: operator commands do not wait for all that it needs. */
async function start(options: ServeOptions): Promise<void> {
  const workers = options.workers === undefined ? {} : { LASTSEEN_WORKERS: String(options.workers) }
  const roles = options.roles === undefined ? {} : { LASTSEEN_ROLES: options.roles }
  const config = configFor({ ...workers, ...roles })
  const { serve } = await import('../app/serve.ts')
  await serve(config, options.demo ?? false)
  // A driver that was closed while it looked for a lost server may still connect, and would keep the process alive.
  process.exit()
}

export function addServeCommands(program: Command): void {
  const maxWorkers = wholeNumber(64)
  program
    .command('serve', { isDefault: true })
    .description('serve the API and the web app, take in reads, deliver webhooks (the default command)')
    .option('--workers <count>', 'server processes', maxWorkers)
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
    .option('--workers <count>', 'processes', maxWorkers)
    .action((options: ServeOptions) => start({ ...options, roles: 'ingest' }))
  program
    .command('deliver')
    .description('only deliver webhooks')
    .option('--workers <count>', 'processes', maxWorkers)
    .action((options: ServeOptions) => start({ ...options, roles: 'deliver' }))
}
