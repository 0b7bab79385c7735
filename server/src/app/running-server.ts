import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { holderIsAlive, processToken } from '../embedded-postgres/file-lock.ts'
import { dataDirOf } from './context.ts'
import { type ReaderAddresses, localUrl, readerAddresses } from './local-url.ts'

/** The record of a running server, for operator commands that use the same data directory. */
export interface RunningServer {
  /** Identifies the process, so that the record of a killed server is recognized as stale. */
  process: string
  /** The URL of the server on this machine. */
  url: string
  readers: ReaderAddresses
}

const fileIn = (dataDir: string): string => join(dataDir, 'server.json')

async function readRecord(dataDir: string): Promise<RunningServer | null> {
  try {
    return JSON.parse(await readFile(fileIn(dataDir), 'utf8')) as RunningServer
  } catch {
    return null
  }
}

/**
 * Records where this server accepts reads, and returns a function that removes the record. If several servers use one data
 * directory, the last one to start is recorded. With an external database there is no directory and no record.
 */
export async function recordServer(config: Config, port: number): Promise<() => Promise<void>> {
  const dataDir = dataDirOf(config)
  if (dataDir === null || !config.roles.has('ingest')) return async () => undefined
  const token = await processToken()
  const url = localUrl(config, 'http', port)
  const record: RunningServer = { process: token, url, readers: readerAddresses(config, port) }
  const temporaryFile = `${fileIn(dataDir)}.${process.pid}`
  // Without the record, operator commands use their settings, so a failure does not stop the server.
  await writeFile(temporaryFile, `${JSON.stringify(record)}\n`)
    .then(() => rename(temporaryFile, fileIn(dataDir)))
    .catch(() => undefined)
  return async () => {
    if ((await readRecord(dataDir))?.process === token) await rm(fileIn(dataDir), { force: true })
  }
}

/** Returns the running server that uses the data directory of these settings, or null. */
export async function findRunningServer(config: Config): Promise<RunningServer | null> {
  const dataDir = dataDirOf(config)
  const record = dataDir === null ? null : await readRecord(dataDir)
  return record !== null && (await holderIsAlive(record.process)) ? record : null
}
