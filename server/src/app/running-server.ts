import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { holderIsAlive, processToken } from '../embedded-postgres/file-lock.ts'
import { dataDirOf } from './context.ts'
import { type ReaderAddresses, localUrl, readerAddresses } from './local-url.ts'

/** What a running server tells the operator commands that use the same data folder. */
export interface RunningServer {
  /** Names the process; a file left behind by a killed server is recognised by it. */
  process: string
  /** Where it listens on this machine. */
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
 * Writes down where this server takes reads, and returns the function that removes the record. Of several servers over
 * one data folder, the one that started last is recorded. With an outside database there is no folder to write to.
 */
export async function recordServer(config: Config, port: number): Promise<() => Promise<void>> {
  const dataDir = dataDirOf(config)
  if (dataDir === null || !config.roles.has('ingest')) return async () => undefined
  const own = await processToken()
  const url = localUrl('http', config.host, port)
  const record: RunningServer = { process: own, url, readers: readerAddresses(config, port) }
  const draft = `${fileIn(dataDir)}.${process.pid}`
  // Without the record, operator commands fall back on their settings: no reason to stop the server.
  await writeFile(draft, `${JSON.stringify(record)}\n`)
    .then(() => rename(draft, fileIn(dataDir)))
    .catch(() => undefined)
  return async () => {
    if ((await readRecord(dataDir))?.process === own) await rm(fileIn(dataDir), { force: true })
  }
}

/** The server that runs over the data folder of these settings, or null when none is known. */
export async function findRunningServer(config: Config): Promise<RunningServer | null> {
  const dataDir = dataDirOf(config)
  const record = dataDir === null ? null : await readRecord(dataDir)
  return record !== null && (await holderIsAlive(record.process)) ? record : null
}
