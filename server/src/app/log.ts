import { isatty } from 'node:tty'
import { type Logger, pino } from 'pino'
import { prettyFactory } from 'pino-pretty'
import type { Config } from '../config/config.ts'

/** Up to `maxLength` bytes are buffered while lines cannot be written; further lines are lost. */
const writing = { sync: false, maxLength: 1024 * 1024, periodicFlush: 500 }
/** JSON lines are written in batches of at least `minLength` bytes, and twice a second when there is less. */
const batched = { ...writing, minLength: 4096 }
const unbatched = { ...writing, minLength: 1 }
const flushTimeoutMs = 1000

export interface Log {
  logger: Logger
  /** Resolves once all lines are written, or after a timeout. */
  flush: () => Promise<void>
}

/** Truncates a text that a client sent, for a log line. */
export const cut = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`

interface LogLine {
  event?: string
  method?: string
  path?: string
  status?: number
  durationMs?: number
  msg?: string
}

/** The text of a pretty-printed line: an access log entry for a request, otherwise the message. */
function messageOf(line: LogLine): string {
  if (line.event !== 'http.answered') return line.msg ?? line.event ?? ''
  return `${line.method} ${line.path} ${line.status} ${line.durationMs} ms`
}

/**
 * Opens the log of the process on standard output: readable lines on a terminal, otherwise one JSON document per line.
 * `onClosed` is called when standard output is closed by the program that reads it. If the disk is full or that program does
 * not read, lines are lost, and their number is logged as soon as lines can be written again.
 */
export function openLog({ logLevel, logFormat }: Config, onClosed: () => void): Log {
  const isTerminal = isatty(1)
  const isPretty = logFormat === 'pretty' || (logFormat === 'auto' && isTerminal)
  // Accessing process.stdout makes Node set a pipe to non-blocking mode. A write to a blocking pipe that is not read would
  // occupy a thread forever, and the process could not exit.
  process.stdout.on('error', () => undefined)
  let isFailing = false
  const retryEAGAIN = (): boolean => (isFailing = true)
  const destination = pino.destination({ ...(isPretty ? unbatched : batched), retryEAGAIN })
  destination.on('write', () => (isFailing = false))
  // At exit, pino retries the remaining lines until it succeeds: if nothing can be written, the process would never exit.
  process.prependListener('exit', () => {
    if (isFailing) destination.destroy()
  })
  let lostLines = 0
  destination.on('drop', () => lostLines++)
  destination.on('drain', () => {
    if (lostLines === 0) return
    const lines = lostLines
    lostLines = 0
    logger.warn({ event: 'log.lost', lines }, `${lines} log lines were lost`)
  })
  destination.on('error', (error: NodeJS.ErrnoException) => {
    isFailing = true
    if (isOutputClosed(error)) onClosed()
  })
  const format = prettyFactory({
    colorize: isTerminal,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,event,method,path,status,durationMs',
    messageFormat: (line) => messageOf(line),
  })
  const prettyDestination = { write: (line: string) => void destination.write(format(line)) }
  const logger = pino({ level: logLevel, base: { pid: process.pid } }, isPretty ? prettyDestination : destination)
  return {
    logger,
    flush: () =>
      new Promise((resolve) => {
        setTimeout(resolve, flushTimeoutMs).unref()
        destination.flush(() => resolve())
      }),
  }
}

/** EPIPE: the reading end of the pipe was closed. EIO: the terminal was closed. */
export const isOutputClosed = ({ code }: NodeJS.ErrnoException): boolean => code === 'EPIPE' || code === 'EIO'
