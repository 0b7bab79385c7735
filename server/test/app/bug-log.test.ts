import { pino } from 'pino'
import { expect, it } from 'vitest'
import { telemetry } from '../../src/app/telemetry.ts'

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
