import { describe, expect, it } from 'vitest'
import { useApp } from '../support/app.ts'
import { type Kind, create, idsOf, remove, useDatabase, useSecondProcess } from '../support/master-data.ts'
import { raceRounds } from '../support/rounds.ts'

const context = useApp()
const throughSecond = useSecondProcess(context)
const database = useDatabase(context)
const kinds: [Kind][] = [['assets'], ['locations']]
const rounds = raceRounds(100)

/** Lists with different query plans: counted, merged with deleted rows, filtered, searched. */
const views = [
  '',
  'is_active=true',
  'is_active=false',
  'q=churn',
  'sort=-updated_at',
  'q=churn&is_active=true&sort=name',
]

describe.each(kinds)('a list of %s that is read while others write', (kind) => {
  it('always has as many rows as its total says', async () => {
    const org = await context.app.newOrg()
    const client = org.full
    const reader = throughSecond(org).full
    const path = `/api/v1/${kind}`
    let isReading = true
    let writes = 0

    /** Keeps creating, changing and deleting records, never more than ten at once. */
    const churn = async (writer: number): Promise<void> => {
      const own: number[] = []
      for (let turn = 0; isReading; turn++) {
        const row = await create(client, kind, { name: `churn ${writer}`, is_active: turn % 2 === 0 })
        own.push(row.id)
        const changed = await client.patch(`${path}/${row.id}`, { is_active: turn % 3 === 0 })
        expect(changed.status).toBe(200)
        if (own.length > 10) expect((await client.delete(`${path}/${own.shift()}`)).status).toBe(204)
        writes++
      }
    }

    const read = async (): Promise<void> => {
      for (let round = 0; round < rounds; round++) {
        const view = views[round % views.length]!
        const reply = await reader.get(path, `limit=200${view === '' ? '' : `&${view}`}`)
        expect(reply.status).toBe(200)
        expect(reply.json.data.length).toBeLessThan(200)
        expect({ view, total: reply.json.total_count }).toEqual({ view, total: reply.json.data.length })
        expect(new Set(idsOf(reply)).size).toBe(reply.json.data.length)
      }
    }

    const writers = [1, 2, 3].map(churn)
    try {
      await Promise.all([read(), read()])
    } finally {
      isReading = false
      await Promise.all(writers)
    }
    expect(writes).toBeGreaterThan(rounds / 5)

    const [counted] = await database.sql<{ live: number; all: number }[]>`
      select count(*) filter (where deleted_at is null)::int as live, count(*)::int as all
      from ${database.sql(kind)} where org_id = ${org.orgId}`
    expect((await client.get(path)).json.total_count).toBe(counted!.live)
    expect((await client.get(path, 'include_deleted=true')).json.total_count).toBe(counted!.all)
  }, 120_000)

  it('has an exact total with include_deleted too', async () => {
    const org = await context.app.newOrg()
    const client = org.full
    const reader = throughSecond(org).full
    const path = `/api/v1/${kind}`
    const read = async (more: string): Promise<void> => {
      const reply = await reader.get(path, `include_deleted=true&limit=200${more}`)
      expect(reply.json.data.length).toBeLessThan(200)
      expect({ more, total: reply.json.total_count }).toEqual({ more, total: reply.json.data.length })
    }
    const views = ['', '&is_active=true', '&is_active=false', '&q=churn', '&sort=-name']
    for (let round = 0; round < rounds / 2; round++) {
      const births = [0, 1, 2].map((turn) => create(client, kind, { name: 'churn', is_active: turn > 0 }))
      const [made] = await Promise.all([Promise.all(births), ...views.map(read)])
      await Promise.all([...made.map((row) => remove(client, kind, row.id)), ...views.map(read)])
    }
  }, 120_000)
})
