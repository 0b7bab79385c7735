import { describe, expect, it } from 'vitest'
import { Gathered } from '../../src/app/log.ts'

function gather(): { lines: Gathered; written: string[] } {
  const written: string[] = []
  return { written, lines: new Gathered({ write: (text) => written.push(text), flushSync: () => undefined }) }
}

describe('The lines of the log', () => {
  it('are written many at a time, whole, in their order, and the rest at the end', () => {
    const { lines, written } = gather()
    const given = Array.from({ length: 3000 }, (_, index) => `{"n":${index},"name":"Größe 箱 😀"}\n`)
    for (const line of given) lines.write(line)
    expect(written.length).toBeGreaterThan(1)
    expect(written.length).toBeLessThan(10)
    expect(written.every((text) => text.endsWith('\n'))).toBe(true)
    lines.flush()
    expect(written.join('')).toBe(given.join(''))
  })

  it('are written on their own when they are larger than the room, behind those that came before', () => {
    const { lines, written } = gather()
    const large = `${'箱'.repeat(100_000)}\n`
    for (const line of ['first\n', large, 'last\n']) lines.write(line)
    lines.flush()
    expect(written).toEqual(['first\n', large, 'last\n'])
  })

  it('wait a second at most', async () => {
    const { lines, written } = gather()
    lines.write('alone\n')
    expect(written).toEqual([])
    await expect.poll(() => written, { timeout: 10_000 }).toEqual(['alone\n'])
  })
})
