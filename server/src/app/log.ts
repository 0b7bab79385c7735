import { isatty } from 'node:tty'
import { type Logger, pino } from 'pino'
import pretty from 'pino-pretty'
import type { Config } from '../config/config.ts'

/** Lines are written so many bytes at a time; a quiet server writes what it has twice a second. */
const batching = { sync: false, minLength: 4096, periodicFlush: 500 }
const flushTimeoutMs = 1000

export interface Log {
  logger: Logger
  /** Resolves once everything is written, or cannot be written any more. */
  flush: () => Promise<void>
}

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
 * `onClosed` is called when nobody reads standard output any more. Any other failed write loses lines and nothing else.
 */
export function openLog({ logLevel, logFormat }: Config, onClosed: () => void): Log {
  const isTerminal = isatty(1)
  const isPretty = logFormat === 'pretty' || (logFormat === 'auto' && isTerminal)
  const destination = pino.destination(isPretty ? { sync: true } : batching)
  destination.on('error', (error: NodeJS.ErrnoException) => {
    if (isOutputClosed(error)) onClosed()
  })
  const stream = isPretty
    ? pretty({
        destination,
        colorize: isTerminal,
        singleLine: true,
        translateTime: 'SYS:HH:MM:ss.l',
        ignore: 'pid,event,method,path,status,durationMs',
        messageFormat: (line) => messageOf(line),
      })
    : destination
  const logger = pino({ level: logLevel, base: { pid: process.pid } }, stream)
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
