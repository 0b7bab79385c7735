import { openSession } from './session.ts'
import { sql } from './sql.ts'

const seatKey = 617_050
const leavingKey = 617_051

/** A number of its own for one process among those on a database. */
export interface InstanceSlot {
  number: number
  /** Gives the number up and says whether nobody else has one. Of several that leave at once, one is told so. */
  leave(): Promise<boolean>
}

/**
 * Takes the lowest number that no other process holds. However a process ends, its number is free again, so whoever
 * starts next goes on under it. `onLost` is called when the number is no longer held although nobody gave it up.
 */
export async function acquireInstanceSlot(url: string, onLost: () => void): Promise<InstanceSlot> {
  let isHeld = false
  const session = await openSession(url, {
    parameters: { application_name: 'lastseen seat' },
    onEnd: () => {
      if (isHeld) onLost()
      isHeld = false
    },
  })
  const isFree = async (number: number): Promise<boolean> => {
    const lock = sql`select pg_try_advisory_lock(${seatKey}, ${number}) as taken`
    return (await session.query<{ taken: boolean }>(lock))[0]!.taken
  }
  // Those that leave do so one after the other: this lock, like the other, ends with the connection.
  const give = async (number: number): Promise<boolean> => {
    await session.query(sql`select pg_advisory_lock(${leavingKey}, 0)`)
    await session.query(sql`select pg_advisory_unlock(${seatKey}, ${number})`)
    const others = await session.query(sql`
      select from pg_locks where locktype = 'advisory' and classid = ${seatKey} and objsubid = 2
        and database = (select oid from pg_database where datname = current_database())`)
    return others.length === 0
  }

  let number = 0
  try {
    while (!(await isFree(number))) number++
    isHeld = true
  } catch (error) {
    await session.end(0)
    throw error
  }
  let leaving: Promise<boolean> | undefined
  const leave = (): Promise<boolean> => {
    const wasHeld = isHeld
    isHeld = false
    return (wasHeld ? give(number) : Promise.resolve(true)).catch(() => true).finally(() => session.end(1000))
  }
  return { number, leave: () => (leaving ??= leave()) }
}
