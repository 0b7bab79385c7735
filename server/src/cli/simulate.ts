import { type Command, Option } from 'commander'
import { localUrl } from '../app/local-url.ts'
import { findRunningServer } from '../app/running-server.ts'
import type { SimulateOptions } from '../app/simulate.ts'
import { messages } from '../simulator/messages.ts'
import { withContext, operatorCommand, wholeNumber } from './command.ts'

type Options = Omit<SimulateOptions, 'seconds' | 'url'> & { seconds?: number; url?: string }

export function addSimulateCommand(program: Command): void {
  operatorCommand(program, 'simulate', 'simulate a warehouse that sends reads to a running server')
    .requiredOption('--org <name>', 'the organization, by name or id')
    .option('--url <address>', 'the running server; detected automatically with the embedded database')
    .option('--assets <count>', 'number of assets', wholeNumber(100_000), 300)
    .option('--rate <reads>', 'reads per second', wholeNumber(10_000), 5)
    .option('--days <count>', 'days of history to backfill first', wholeNumber(400), 3)
    .option('--seconds <count>', 'stop after this many seconds; runs until stopped when absent', wholeNumber(1_000_000))
    .addOption(
      new Option('--format <format>', 'the message format of the readers')
        .choices(Object.keys(messages))
        .default('generic'),
    )
    .option('--seed <number>', 'the same seed simulates the same site', wholeNumber(2 ** 31), 7)
    .action(
      withContext(async (context, options: Options, { config, progress }) => {
        const stop = new AbortController()
        for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort())
        const { simulate } = await import('../app/simulate.ts')
        const running = await findRunningServer(config)
        const url = options.url ?? running?.url ?? localUrl(config, 'http', config.port)
        return simulate(context, { ...options, url, seconds: options.seconds ?? null }, progress, stop.signal)
      }),
    )
}
