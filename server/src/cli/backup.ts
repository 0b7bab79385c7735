import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { backUp } from '../backup/backup.ts'
import { BrokenBackup } from '../backup/file.ts'
import { NotEmpty, restore } from '../backup/restore.ts'
import { now, systemClock } from '../kernel/clock.ts'
import { formatMillis } from '../kernel/instant.ts'
import { openDatabase, requireSchema } from '../app/context.ts'
import { type Facts, OperatorError } from '../app/operator.ts'

type Progress = (line: string) => void

/** Does not migrate the schema, so that a backup before an update contains the database as it was. */
export async function backUpTo(config: Config, file: string, program: string, progress: Progress): Promise<Facts> {
  const path = resolve(file)
  if (existsSync(path)) throw new OperatorError(`${path} already exists; a backup never overwrites a file`)
  const database = await openDatabase(config, { progress, mayCreate: false })
  try {
    await requireSchema(config, database.url)
    const takenAt = formatMillis(now(systemClock))
    const summary = await backUp({ url: database.url, path, takenAt, program, progress })
    progress('The file contains every secret of the installation, including its keys. Protect it like the database.')
    return { file: path, taken_at: takenAt, ...summary }
  } finally {
    await database.release()
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
    if (error instanceof BrokenBackup || error instanceof NotEmpty) throw new OperatorError(error.message)
    throw error
  } finally {
    await database.release()
  }
}
