import { citusDdlSettings } from '../create-database.ts'
import { type Session, withSession } from '../session.ts'
import { sql } from '../sql.ts'

const lockKey = 6_170_503
const dayMs = 86_400_000

export const historyTable = 'asset_minutes'

/** Creates the partitions for every month within the retention period, and for the next two months. */
export function makeMonths(url: string, nowMs: number, retentionDays: number): Promise<void> {
  return makePartitions(url, historyTable, nowMs - retentionDays * dayMs, nowMs + 62 * dayMs)
}

interface Month {
  name: string
  from: string
  to: string
}

/** The monthly partitions of a table from one instant to another. */
function monthsBetween(table: string, fromMs: number, toMs: number): Month[] {
  const months: Month[] = []
  const first = new Date(fromMs)
  for (let index = first.getUTCFullYear() * 12 + first.getUTCMonth(); ; index++) {
    const start = new Date(Date.UTC(Math.floor(index / 12), index % 12))
    if (start.getTime() > toMs) return months
    const end = new Date(Date.UTC(Math.floor((index + 1) / 12), (index + 1) % 12))
    const label = start.toISOString().slice(0, 7).replace('-', '_')
    months.push({ name: `${table}_${label}`, from: start.toISOString(), to: end.toISOString() })
  }
}

async function makePartitions(url: string, table: string, fromMs: number, toMs: number): Promise<void> {
  const make = async (session: Session): Promise<void> => {
    await session.query(sql`select pg_advisory_lock(${lockKey})`)
    await session.transaction(() => makeMonthsBetween(session, table, fromMs, toMs))
  }
  await withSession(url, make, citusDdlSettings)
}

/**
 * Creates the missing partitions within a transaction. Each is created as a separate table and then attached: CREATE TABLE
 * … PARTITION OF would wait for every running report, and all incoming writes would wait behind it.
 */
export async function makeMonthsBetween(tx: Session, table: string, fromMs: number, toMs: number): Promise<void> {
  const existing = new Set(await partitionsOf(tx, table))
  for (const { name, from, to } of monthsBetween(table, fromMs, toMs).filter((month) => !existing.has(month.name))) {
    await tx.execute(`create table ${name} (like ${table} including all)`)
    await tx.execute(`alter table ${table} attach partition ${name} for values from ('${from}') to ('${to}')`)
  }
}

/** Names, oldest first. */
async function partitionsOf(session: Session, table: string): Promise<string[]> {
  const rows = await session.query<{ relname: string }>(sql`
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = ${table}::regclass
    order by c.relname`)
  return rows.map((row) => row.relname)
}

/** The first instant of a partition's month and of the next month; null when the name contains no month. */
function monthOf(partition: string): { fromMs: number; toMs: number } | null {
  const [, year, month] = /_(\d{4})_(\d{2})$/.exec(partition) ?? []
  if (year === undefined || month === undefined) return null
  return { fromMs: Date.UTC(Number(year), Number(month) - 1), toMs: Date.UTC(Number(year), Number(month)) }
}

/** The first and last instant that the partitions cover; null when there are no partitions. */
export async function monthsSpan(session: Session, table: string): Promise<[fromMs: number, toMs: number] | null> {
  const months = (await partitionsOf(session, table)).flatMap((name) => monthOf(name) ?? [])
  const [first, last] = [months[0], months.at(-1)]
  return first === undefined || last === undefined ? null : [first.fromMs, last.toMs - 1]
}

/** The partitions whose whole month lies before the instant, oldest first. */
export async function partitionsBefore(
  url: string,
  table: string,
  beforeMs: number,
): Promise<{ name: string; toMs: number }[]> {
  const names = await withSession(url, (session) => partitionsOf(session, table))
  return names.flatMap((name) => {
    const toMs = monthOf(name)?.toMs ?? Infinity
    return toMs <= beforeMs ? [{ name, toMs }] : []
  })
}

const maxDropAttempts = 20

/**
 * Retries with a short lock timeout: while DROP TABLE waits for a running report, all incoming writes would wait behind it.
 */
export async function dropPartition(url: string, name: string): Promise<void> {
  const drop = async (session: Session): Promise<void> => {
    for (let attempt = 1; ; attempt++)
      try {
        return await session.execute(`drop table if exists ${name}`)
      } catch (error) {
        if (attempt === maxDropAttempts || (error as { code?: string }).code !== '55P03') throw error
        await new Promise((resume) => setTimeout(resume, 200))
      }
  }
  await withSession(url, drop, { lock_timeout: '100ms' })
}
