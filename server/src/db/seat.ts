import postgres from 'postgres'
import { hostsOf } from './hosts.ts'

const seatKey = 617_050
const leavingKey = 617_051

/** A number of its own for one process among those on a database. */
export interface Seat {
  number: number
  /** Gives the number up and says whether nobody else has one. Of several that leave at once, one is told so. */
  leave(): Promise<boolean>
}

/**
 * Takes the lowest number that no other process holds. However a process ends, its number is free again, so whoever
 * starts next goes on under it. `onLost` is called when the number is no longer held although nobody gave it up.
 */
export async function takeSeat(url: string, onLost: () => void): Promise<Seat> {
  let isHeld = false
  const sql = postgres(hostsOf(url).current, {
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 10,
    fetch_types: false,
    onnotice: () => undefined,
    onclose: () => {
      if (isHeld) onLost()
      isHeld = false
    },
    connection: { application_name: 'lastseen seat' },
  })
  const isFree = async (number: number): Promise<boolean> =>
    (await sql<{ taken: boolean }[]>`select pg_try_advisory_lock(${seatKey}, ${number}) as taken`)[0]!.taken
  // Those that leave do so one after the other: this lock, like the other, ends with the connection.
  const give = async (number: number): Promise<boolean> => {
    await sql`select pg_advisory_lock(${leavingKey}, 0)`
    await sql`select pg_advisory_unlock(${seatKey}, ${number})`
    const others = await sql`
      select from pg_locks where locktype = 'advisory' and classid = ${seatKey} and objsubid = 2
        and database = (select oid from pg_database where datname = current_database())`
    return others.length === 0
  }

  let number = 0
  try {
    while (!(await isFree(number))) number++
    isHeld = true
  } catch (error) {
    await sql.end({ timeout: 0 })
    throw error
  }
  let leaving: Promise<boolean> | undefined
  const leave = (): Promise<boolean> => {
    const wasHeld = isHeld
    isHeld = false
    return (wasHeld ? give(number) : Promise.resolve(true)).catch(() => true).finally(() => sql.end({ timeout: 1 }))
  }
  return { number, leave: () => (leaving ??= leave()) }
}
