import { citusDdlSettings, openPool } from './connect.ts'

const lockKey = 6_170_503
const dayMs = 86_400_000

/** The table of history: every month a read may fall into, and the next two. */
export const historyTable = 'asset_minutes'

export function makeMonths(url: string, nowMs: number, retentionDays: number): Promise<void> {
  return makePartitions(url, historyTable, nowMs - retentionDays * dayMs, nowMs + 62 * dayMs)
}

interface Month {
  name: string
  from: string
  to: string
}

/** The months from one instant to another, as partitions of a table. */
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

/**
 * Makes the months there must be. Each is made on its own and attached when it is whole, because a month made in place
 * would wait for every running report, and everything that comes in would wait behind it.
 */
async function makePartitions(url: string, table: string, fromMs: number, toMs: number): Promise<void> {
  const pool = openPool(url, 1, citusDdlSettings)
  try {
    await pool`select pg_advisory_lock(${lockKey})`
    const rows = await pool<{ relname: string }[]>`
      select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = ${table}::regclass`
    const there = new Set(rows.map((row) => row.relname))
    for (const { name, from, to } of monthsBetween(table, fromMs, toMs).filter((month) => !there.has(month.name)))
      // Both or neither: statements sent as one text are one transaction.
      await pool
        .unsafe(
          `create table ${name} (like ${table} including all);
           alter table ${table} attach partition ${name} for values from ('${from}') to ('${to}')`,
        )
        .simple()
  } finally {
    await pool.end({ timeout: 5 })
  }
}

/** The partitions whose whole month lies before the instant, oldest first. */
export async function partitionsBefore(
  url: string,
  table: string,
  beforeMs: number,
): Promise<{ name: string; toMs: number }[]> {
  const pool = openPool(url, 1)
  try {
    const rows = await pool<{ relname: string }[]>`
      select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = ${table}::regclass
      order by c.relname`
    return rows.flatMap(({ relname: name }) => {
      const match = /_(\d{4})_(\d{2})$/.exec(name)
      const toMs = match === null ? Infinity : Date.UTC(Number(match[1]), Number(match[2]))
      return toMs <= beforeMs ? [{ name, toMs }] : []
    })
  } finally {
    await pool.end({ timeout: 5 })
  }
}

const dropTries = 20

/** Asks for a moment only, again and again, because all that comes in waits while it waits for a running report. */
export async function dropPartition(url: string, name: string): Promise<void> {
  const pool = openPool(url, 1)
  try {
    for (let tries = 1; ; tries++)
      try {
        await pool.unsafe(`set lock_timeout = '100ms'; drop table if exists ${name}`).simple()
        return
      } catch (error) {
        if (tries === dropTries || (error as { code?: string }).code !== '55P03') throw error
        await new Promise((resume) => setTimeout(resume, 200))
      }
  } finally {
    await pool.end({ timeout: 5 })
  }
}
