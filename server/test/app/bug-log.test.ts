import { pino } from 'pino'
import { expect, it } from 'vitest'
import { telemetry } from '../../src/app/telemetry.ts'

const messageOf = (line: string): string => (JSON.parse(line) as { err: { message: string } }).err.message

it('The message of a logged bug has at most 4,096 characters, and the stack 16,384', () => {
  const lines: string[] = []
  const { bug } = telemetry(pino({}, { write: (line: string) => void lines.push(line) }))
  for (const length of [4096, 4097]) {
    const error = Object.assign(new Error('x'.repeat(length)), { stack: 'y'.repeat(4 * length) })
    bug({ requestId: 'a', operation: 'assets.list' } as never, error)
  }
  expect(lines.map(messageOf)).toEqual(['x'.repeat(4096), `${'x'.repeat(4096)}…`])
  const stacks = lines.map((line) => (JSON.parse(line) as { err: { stack: string } }).err.stack)
  expect(stacks).toEqual(['y'.repeat(16_384), `${'y'.repeat(16_384)}…`])
})

it('A line of the access log has at most 1,024 characters of the path and 256 of the request id', () => {
  const lines: string[] = []
  const { answered } = telemetry(pino({}, { write: (line: string) => void lines.push(line) }))
  for (const more of [0, 1]) {
    const [loggedPath, requestId] = ['p'.repeat(1024 + more), 'r'.repeat(256 + more)]
    answered({ loggedPath, requestId, operation: 'assets.list', startedAt: 0 } as never, 200)
  }
  const shown = lines.map((line) => JSON.parse(line) as { path: string; requestId: string })
  expect(shown.map(({ path, requestId }) => [path, requestId])).toEqual([
    ['p'.repeat(1024), 'r'.repeat(256)],
    [`${'p'.repeat(1024)}…`, `${'r'.repeat(256)}…`],
  ])
})

it('A logged bug is limited in length, however long the message of the error is', () => {
  const lines: string[] = []
  const { bug } = telemetry(pino({}, { write: (line: string) => void lines.push(line) }))
  const context = { requestId: 'a', operation: 'assets.list' } as never
  bug(context, new TypeError('x'.repeat(1_000_000)))
  bug(context, 'y'.repeat(1_000_000))
  expect(lines).toHaveLength(2)
  for (const line of lines) expect(line.length).toBeLessThan(22_000)
  expect(JSON.parse(lines[0]!)).toMatchObject({
    event: 'http.bug',
    err: { type: 'TypeError', message: expect.stringMatching(/^x+…$/) },
  })
})
