import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FairQueue } from '../../src/admission/fair-queue.ts'
import { serialize } from '../../src/http/response.ts'

const queue = new FairQueue({ maxInFlight: 1 })
const textOf = async (body: object): Promise<string> => (await serialize(body, queue, 1)).toString()

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
    await serialize({ data }, queue, 1)
    clearInterval(timer)
    expect(events).toBeGreaterThan(3)
  })

  it('of many megabytes leaves time for other events, also when there are many at a time', async () => {
    let serialized = 0
    const record = {
      toJSON() {
        serialized++
        return 'x'.repeat(64 * 1024)
      },
    }
    const pages = Array.from({ length: 20 }, (_, tenant) => serialize({ data: Array(20).fill(record) }, queue, tenant))
    let most = 0
    for (let before = serialized; serialized < 400; before = serialized) {
      await new Promise((resolve) => setImmediate(resolve))
      most = Math.max(most, serialized - before)
    }
    await Promise.all(pages)
    expect(most).toBeLessThan(10)
  })
})
