import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { backUp } from '../backup/backup.ts'
import { BrokenBackupError } from '../backup/file.ts'
import { NotEmptyError, restore } from '../backup/restore.ts'
import { now, systemClock } from '../kernel/clock.ts'
import { formatMillis } from '../kernel/instant.ts'
import { openDatabase, requireSchema } from '../app/context.ts'
import { type Facts, OperatorError } from '../app/operator.ts'

type Progress = (line: string) => void

export interface BackupOptions {
  /** The version of the program. */
  program: string
  /** Whether to restore the backup into a temporary database. */
  isVerified: boolean
  progress: Progress
}

/** Does not migrate the schema, so that a backup before an update contains the database as it was. */
export async function backUpTo(config: Config, file: string, options: BackupOptions): Promise<Facts> {
  const { program, isVerified, progress } = options
  const path = resolve(file)
  if (existsSync(path)) throw new OperatorError(`${path} already exists; a backup never overwrites a file`)
  const database = await openDatabase(config, { progress, mayCreate: false })
  try {
    await requireSchema(config, database.url)
    const takenAt = formatMillis(now(systemClock))
    const summary = await backUp({ url: database.url, path, takenAt, program, progress })
    progress('The file contains every secret of the installation, including its keys. Protect it like the database.')
    if (isVerified) await verify(config, path, progress)
    return { file: path, taken_at: takenAt, ...summary, ...(isVerified && { verified: true }) }
  } finally {
    await database.release()
  }
}

/**
 * Restores the backup into a temporary embedded database, whatever the database of the service is. The restore compares
 * the row counts and checksums and migrates the result. A backup that fails is kept, so that its cause can be found.
 */
async function verify(config: Config, path: string, progress: Progress): Promise<void> {
  progress('Verifying: restoring the backup into a temporary database …')
  let dataDir: string | undefined
  try {
    dataDir = await mkdtemp(join(tmpdir(), 'lastseen-verify-'))
    // Under root, PostgreSQL runs as another user, who must be able to enter the folder.
    await chmod(dataDir, 0o711)
    const options = { progress: () => undefined, mayCreate: true }
    const database = await openDatabase({ ...config, databaseUrl: null, dataDir }, options)
    await restore({ url: database.url, path, isReplacing: false, progress: options.progress }).finally(() =>
      database.release(),
    )
  } catch (error) {
    throw new OperatorError(`The backup ${path} could not be verified: ${(error as Error).message}`)
  } finally {
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
}

export async function restoreFrom(
  config: Config,
  file: string,
  isReplacing: boolean,
  progress: Progress,
): Promise<Facts> {
  const path = resolve(file)
  if (!existsSync(path)) throw new OperatorError(`There is no file ${path}`)
  const database = await openDatabase(config, { progress, mayCreate: true })
  try {
    const { takenAt, ...summary } = await restore({ url: database.url, path, isReplacing, progress })
    return { file: path, taken_at: takenAt, ...summary }
  } catch (error) {
    if (error instanceof BrokenBackupError || error instanceof NotEmptyError) throw new OperatorError(error.message)
    throw error
  } finally {
    await database.release()
  }
}
