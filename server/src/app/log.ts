import { isatty } from 'node:tty'
import { type Logger, pino } from 'pino'
import { prettyFactory } from 'pino-pretty'
import type { Config } from '../config/config.ts'

/** Lines that cannot be written wait in memory, up to so many bytes; further lines are lost. */
const writing = { sync: false, maxLength: 1024 * 1024, periodicFlush: 500 }
/** JSON lines are written so many bytes at a time; a quiet server writes what it has twice a second. */
const batched = { ...writing, minLength: 4096 }
const unbatched = { ...writing, minLength: 1 }
const flushTimeoutMs = 1000

export interface Log {
  logger: Logger
  /** Resolves once everything is written, or cannot be written any more. */
  flush: () => Promise<void>
}

/** A text of a client, short enough for a log line. */
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

/** A request in the words of an access log; anything else by its message. */
function messageOf(line: LogLine): string {
  if (line.event !== 'http.answered') return line.msg ?? line.event ?? ''
  return `${line.method} ${line.path} ${line.status} ${line.durationMs} ms`
}

/**
 * The log of the process on standard output: readable lines on a terminal, otherwise one JSON document per line.
 * `onClosed` is called when the reader of standard output has closed it. A full disk, or a reader that does not read,
 * loses lines and nothing else; how many is logged as soon as lines can be written again.
 */
export function openLog({ logLevel, logFormat }: Config, onClosed: () => void): Log {
  const isTerminal = isatty(1)
  const isPretty = logFormat === 'pretty' || (logFormat === 'auto' && isTerminal)
  // Node makes a pipe non-blocking as soon as it is asked for its stream. A write to a blocking pipe that nobody reads
  // would occupy a thread for ever, and the process could not end.
  process.stdout.on('error', () => undefined)
  let isFailing = false
  const retryEAGAIN = (): boolean => (isFailing = true)
  const destination = pino.destination({ ...(isPretty ? unbatched : batched), retryEAGAIN })
  destination.on('write', () => (isFailing = false))
  // At exit pino writes what is left and tries until it succeeds: where nothing can be written, the process would not end.
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

/** EPIPE: the reader of the pipe is gone. EIO: the terminal was closed. */
export const isOutputClosed = ({ code }: NodeJS.ErrnoException): boolean => code === 'EPIPE' || code === 'EIO'
