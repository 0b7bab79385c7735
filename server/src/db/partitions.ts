import { openPool } from './connect.ts'

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

/** Makes the months there must be. One that is being made is waited for by nobody: it is attached when it is whole. */
async function makePartitions(url: string, table: string, fromMs: number, toMs: number): Promise<void> {
  const pool = openPool(url, 1)
  try {
    const rows = await pool<{ relname: string }[]>`
      select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = ${table}::regclass`
    const there = new Set(rows.map((row) => row.relname))
    const missing = monthsBetween(table, fromMs, toMs).filter((month) => !there.has(month.name))
    if (missing.length === 0) return
    await pool.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${lockKey})`
      for (const { name, from, to } of missing)
        await tx.unsafe(
          `create table if not exists ${name} partition of ${table} for values from ('${from}') to ('${to}')`,
        )
    })
  } finally {
    await pool.end({ timeout: 5 })
  }
}

/** The partitions whose whole month lies before the instant, oldest first. */
export async function partitionsBefore(url: string, table: string, beforeMs: number): Promise<{ name: string; toMs: number }[]> {
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

export async function dropPartition(url: string, name: string): Promise<void> {
  const pool = openPool(url, 1)
  try {
    await pool.unsafe(`set lock_timeout = '2s'; drop table if exists ${name}`).simple()
  } finally {
    await pool.end({ timeout: 5 })
  }
}
