import { openPool } from './connect.ts'

/**
 * Runs the work while no other process runs work under the same key on this database; the others wait their turn. The
 * lock belongs to the connection and ends with it. It is no transaction: the driver crashes when a connection is cut
 * under one of its own.
 */
export async function alone<Result>(url: string, key: number, work: () => Promise<Result>): Promise<Result> {
  const pool = openPool(url, 1)
  try {
    await pool`select pg_advisory_lock(${key})`
    return await work()
  } finally {
    await pool.end({ timeout: 5 })
  }
}
