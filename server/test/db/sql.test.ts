import { describe, expect, it } from 'vitest'
import { join, render, sql } from '../../src/db/sql.ts'

describe('A statement', () => {
  it('numbers its values and keeps them out of its text', () => {
    const statement = sql`select * from assets where org_id = ${5} and name = ${"'; drop table assets --"}`
    expect(render(statement).text).toBe('select * from assets where org_id = $1 and name = $2')
    expect(render(statement).values).toEqual([5, "'; drop table assets --"])
  })

  it('without values is its text', () => {
    expect(render(sql`select 1`).text).toBe('select 1')
    expect(render(sql`select 1`).values).toEqual([])
  })

  it('may consist of fragments, whose values are numbered in order', () => {
    const filter = sql`name = ${'a'} or name = ${'b'}`
    const statement = sql`select from t where org_id = ${1} and (${filter}) limit ${10}`
    expect(render(statement).text).toBe('select from t where org_id = $1 and (name = $2 or name = $3) limit $4')
    expect(render(statement).values).toEqual([1, 'a', 'b', 10])
  })

  it('may use one fragment twice', () => {
    const filled = sql`least(${120}, tokens)`
    const statement = sql`select ${filled} >= 1, ${filled} - 1`
    expect(render(statement).text).toBe('select least($1, tokens) >= 1, least($2, tokens) - 1')
    expect(render(statement).values).toEqual([120, 120])
  })

  it('may nest fragments to any depth, empty ones included', () => {
    const inner = sql`b = ${2}`
    const outer = sql`(${inner}${sql``}) and c = ${3}`
    const statement = sql`${sql`a = ${1}`} and ${outer}`
    expect(render(statement).text).toBe('a = $1 and (b = $2) and c = $3')
    expect(render(statement).values).toEqual([1, 2, 3])
  })

  it('treats null, arrays and objects as values, never as fragments', () => {
    const statement = sql`select ${null}, ${[1, 2]}, ${{ chunks: 'x' }}`
    expect(render(statement).text).toBe('select $1, $2, $3')
    expect(render(statement).values).toEqual([null, [1, 2], { chunks: 'x' }])
  })

  it('rejects undefined, which the driver would write as null', () => {
    expect(() => render(sql`select ${undefined}`)).toThrow(TypeError)
  })

  it('records every template it consists of', () => {
    const piece = sql`x = ${1}`
    const templates = sql`select ${piece} and ${piece}`.templates.map((strings) => strings.join('?'))
    expect(templates).toEqual(['select ? and ?', 'x = ?', 'x = ?'])
  })

  it('joins fragments with a separator', () => {
    const terms = [sql`a = ${1}`, sql`b = ${2}`, sql`c = ${3}`]
    const joined = join(terms, sql` and `)
    expect(render(joined).text).toBe('a = $1 and b = $2 and c = $3')
    expect(render(joined).values).toEqual([1, 2, 3])
    expect(render(join([], sql`, `)).text).toBe('')
    expect(render(join([sql`a`], sql`, `)).text).toBe('a')
  })

  it('has the same text each time, so that the database prepares it once', () => {
    const make = (id: number) => sql`select from t where id = ${id}`
    expect(render(make(1)).text).toBe(render(make(2)).text)
  })

  it('is not confused with a statement that has a value instead of a fragment', () => {
    const one = (part: unknown) => sql`select ${part} and ${7}`
    expect(render(one(5))).toMatchObject({ text: 'select $1 and $2', values: [5, 7] })
    expect(render(one(sql`now()`))).toMatchObject({ text: 'select now() and $1', values: [7] })
    expect(render(one(sql`f(${1})`))).toMatchObject({ text: 'select f($1) and $2', values: [1, 7] })
    expect(render(one(6))).toMatchObject({ text: 'select $1 and $2', values: [6, 7] })
  })
})
