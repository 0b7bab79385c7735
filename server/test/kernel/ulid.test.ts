import { expect, it } from 'vitest'
import { ulid } from '../../src/kernel/ulid.ts'

it('starts with the time, in Crockford’s base 32', () => {
  expect(ulid(1_469_918_176_385).slice(0, 10)).toBe('01ARYZ6S41')
  expect(ulid(0).slice(0, 10)).toBe('0000000000')
  expect(ulid(2 ** 48 - 1).slice(0, 10)).toBe('7ZZZZZZZZZ')
})

it('has 26 characters and is never repeated', () => {
  const made = new Set(Array.from({ length: 20_000 }, () => ulid(1_800_000_000_000)))
  expect(made.size).toBe(20_000)
  for (const one of made) expect(one).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
})

it('uses every random character at every position', () => {
  const seen = Array.from({ length: 16 }, () => new Set<string>())
  for (let turn = 0; turn < 2000; turn++)
    [...ulid(1).slice(10)].forEach((character, position) => seen[position]!.add(character))
  for (const characters of seen) expect(characters.size).toBe(32)
})
