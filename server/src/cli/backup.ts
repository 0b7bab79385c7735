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

/** The schema is left as it is: what is wanted before an update is a backup of what there was. */
export async function backUpTo(config: Config, file: string, program: string, progress: Progress): Promise<Facts> {
  const path = resolve(file)
  if (existsSync(path)) throw new OperatorError(`${path} is there already; a backup never overwrites another`)
  const database = await openDatabase(config, { progress, mayCreate: false })
  try {
    await requireSchema(config, database.url)
    const takenAt = formatMillis(now(systemClock))
    const kept = await backUp({ url: database.url, path, takenAt, program, progress })
    progress('The file holds every secret of the installation, its keys included. Keep it as safe as the database.')
    return { file: path, taken_at: takenAt, ...kept }
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
    const { takenAt, ...kept } = await restore({ url: database.url, path, isReplacing, progress })
    return { file: path, taken_at: takenAt, ...kept }
  } catch (error) {
    if (error instanceof BrokenBackup || error instanceof NotEmpty) throw new OperatorError(error.message)
    throw error
  } finally {
    await database.release()
  }
}
