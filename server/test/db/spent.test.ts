import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPool } from '../../src/db/connect.ts'
import { emptiedWhenAnswered } from '../../src/db/spent.ts'
import { useApp } from '../support/app.ts'

const context = useApp()

describe('A query of the driver that was answered', () => {
  let pool: ReturnType<typeof openPool>
  beforeAll(() => {
    pool = openPool(context.app.databaseUrl, 1)
  })
  afterAll(() => pool.end({ timeout: 5 }))

  const ask = (text: string, values: string[] = []) => emptiedWhenAnswered(pool.unsafe(text, values, { prepare: true }))
  const held = (query: object) => Object.values(query).filter((one) => one !== null && typeof one === 'object')

  it('holds neither its values nor its text nor what settles it', async () => {
    const query = ask('select $1::text as word', ['once'])
    expect(Object.values(query)).toContainEqual(['once'])
    expect([...(await query)]).toEqual([{ word: 'once' }])
    const left = query as unknown as Record<string, unknown>
    for (const name of ['args', 'parameters', 'strings', 'string', 'signature', 'resolve', 'reject', 'statement'])
      expect([name, left[name]]).toEqual([name, null])
    expect(JSON.stringify(held(query))).not.toContain('once')
  })

  it('leaves those behind it alone, prepared, plain or refused', async () => {
    const words = ['a', 'b', 'c', 'd']
    const answers = await Promise.all(words.map((word) => ask('select $1::text as word', [word])))
    expect(answers.map((rows) => rows[0]!['word'])).toEqual(words)
    const [good, bad, plain] = await Promise.allSettled([
      ask('select 1 as n'),
      ask('select 1 / $1::int as n', ['0']),
      emptiedWhenAnswered(pool.unsafe('select 2 as n; select 3 as n').simple()),
    ])
    expect(good).toMatchObject({ status: 'fulfilled', value: [{ n: 1 }] })
    expect(bad).toMatchObject({ status: 'rejected', reason: { code: '22012' } })
    expect(plain).toMatchObject({ status: 'fulfilled', value: [[{ n: 2 }], [{ n: 3 }]] })
    expect([...(await ask('select 1 / $1::int as n', ['1']))]).toEqual([{ n: 1 }])
  })

  it('is prepared anew when its plan no longer fits', async () => {
    await pool.unsafe('create temporary table spent (a integer)')
    await ask('insert into spent select $1::text::integer', ['1'])
    expect([...(await ask('select * from spent where a = $1::text::integer', ['1']))]).toEqual([{ a: 1 }])
    await pool.unsafe('alter table spent add column b text')
    expect([...(await ask('select * from spent where a = $1::text::integer', ['1']))]).toEqual([{ a: 1, b: null }])
  })
})
