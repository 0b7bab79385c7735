import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { serialize } from '../../src/http/response.ts'

const textOf = async (body: object): Promise<string> => (await serialize(body)).toString()

describe('A response body', () => {
  it('is the JSON of the response, whatever it contains', async () => {
    const page = fc.record({ data: fc.array(fc.jsonValue()), limit: fc.nat(), offset: fc.nat(), total_count: fc.nat() })
    const any = fc.oneof(page, fc.record({ data: fc.array(fc.jsonValue()) }), fc.record({ data: fc.jsonValue() }))
    await fc.assert(
      fc.asyncProperty(any, async (body) => {
        // Large integers are printed with more digits than JSON.stringify prints; the values are the same.
        expect(JSON.parse(await textOf(body))).toEqual(JSON.parse(JSON.stringify(body)))
      }),
    )
  })

  it('has a length in bytes, also with characters of several bytes in many parts', async () => {
    const data = Array.from({ length: 40 }, (_, index) => ({ index, text: '€ü😀'.repeat(5000) }))
    expect(await textOf({ data, limit: 50 })).toBe(JSON.stringify({ data, limit: 50 }))
  })

  it('of many megabytes leaves time for other events', async () => {
    const data = Array.from({ length: 100 }, () => 'x'.repeat(64 * 1024))
    let events = 0
    const timer = setInterval(() => events++, 0)
    await serialize({ data })
    clearInterval(timer)
    expect(events).toBeGreaterThan(3)
  })
})
