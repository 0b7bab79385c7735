import { openSession } from './session.ts'
import { sql } from './sql.ts'

const slotKey = 617_050
const leavingKey = 617_051

/** A number that is unique among the processes connected to one database. */
export interface InstanceSlot {
  number: number
  /** Releases the slot. Resolves to true for the last process; when several leave at once, for exactly one of them. */
  leave(): Promise<boolean>
}

/**
 * Acquires the lowest free number. The number becomes free when the process ends, even after a crash, and the next
 * process to start reuses it. `onLost` is called when the connection that holds the number is lost.
 */
export async function acquireInstanceSlot(url: string, onLost: () => void): Promise<InstanceSlot> {
  let isHeld = false
  const session = await openSession(url, {
    parameters: { application_name: 'lastseen instance slot' },
    onEnd: () => {
      if (isHeld) onLost()
      isHeld = false
    },
  })
  const tryAcquire = async (number: number): Promise<boolean> => {
    const lock = sql`select pg_try_advisory_lock(${slotKey}, ${number}) as acquired`
    return (await session.query<{ acquired: boolean }>(lock))[0]!.acquired
  }
  // Processes leave one at a time. Both locks end with the connection.
  const release = async (number: number): Promise<boolean> => {
    await session.query(sql`select pg_advisory_lock(${leavingKey}, 0)`)
    await session.query(sql`select pg_advisory_unlock(${slotKey}, ${number})`)
    const others = await session.query(sql`
      select from pg_locks where locktype = 'advisory' and classid = ${slotKey} and objsubid = 2
        and database = (select oid from pg_database where datname = current_database())`)
    return others.length === 0
  }

  let number = 0
  try {
    while (!(await tryAcquire(number))) number++
    isHeld = true
  } catch (error) {
    await session.end(0)
    throw error
  }
  let leaving: Promise<boolean> | undefined
  const leave = (): Promise<boolean> => {
    const wasHeld = isHeld
    isHeld = false
    return (wasHeld ? release(number) : Promise.resolve(true)).catch(() => true).finally(() => session.end(1000))
  }
  return { number, leave: () => (leaving ??= leave()) }
}
