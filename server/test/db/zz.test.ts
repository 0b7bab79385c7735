import postgres from 'postgres'
import { inject, it } from 'vitest'
import { connect } from '../../src/db/connect.ts'
import { sql } from '../../src/db/sql.ts'
import { cloneDatabase } from '../support/database.ts'

it('gone', async () => {
  const database = await cloneDatabase()
  const admin = postgres(inject('clusterUrl'), { max: 1, onnotice: () => undefined })
  const name = new URL(database.url).pathname.slice(1)
  const db = connect({ url: database.url, poolSize: 4 })
  await Promise.all(Array.from({ length: 8 }, () => db.common.query(sql`select 1`)))
  await db.listen('x', () => undefined, () => undefined)
  const beat = setInterval(() => void db.notify('x', 'y').catch(() => undefined), 100)
  await admin.unsafe(`alter database ${name} with allow_connections false`)
  await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
  for (let i = 0; i < 25; i++) {
    const t = performance.now()
    const r = await Promise.race([db.common.query(sql`select 1`).then(() => 'ok', (e) => e.code ?? e.message), new Promise((res) => setTimeout(() => res('HANG'), 14000))])
    console.log('Q', i, r, Math.round(performance.now() - t))
    if (r === 'HANG') break
  }
  clearInterval(beat)
  await admin.unsafe(`alter database ${name} with allow_connections true`)
  await db.close(); await database.drop(); await admin.end()
}, 120000)
