import { openPool } from './connect.ts'

/** Runs the work while no other process runs work under the same key on this database; the others wait their turn. */
export async function alone<Result>(url: string, key: number, work: () => Promise<Result>): Promise<Result> {
  const pool = openPool(url, 1)
  try {
    let result: Result | undefined
    await pool.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${key})`
      result = await work()
    })
    return result as Result
  } finally {
    await pool.end({ timeout: 5 })
  }
}
