import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PageSerializer, pageMemory } from '../../src/http/page-serializer.ts'

const serialize = (body: object) => new PageSerializer().serialize(body, 1, {})
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

  it('of many megabytes leaves time for other events, also when there are many at a time', async () => {
    let serialized = 0
    const record = {
      toJSON() {
        serialized++
        return 'x'.repeat(64 * 1024)
      },
    }
    const serializer = new PageSerializer()
    const page = { data: Array(20).fill(record) }
    const pages = Array.from({ length: 20 }, (_, tenant) => serializer.serialize(page, tenant, {}))
    let most = 0
    for (let before = serialized; serialized < 400; before = serialized) {
      await new Promise((resolve) => setImmediate(resolve))
      most = Math.max(most, serialized - before)
    }
    await Promise.all(pages)
    expect(most).toBeLessThan(10)
  })

  it('of many megabytes is refused while an organization, or all of them, hold as much memory as they may', async () => {
    const serializer = new PageSerializer()
    const mebibyte = 'x'.repeat(2 ** 20 - 3)
    const overhead = '{"data":[]}'.length - 1
    const pageOf = (mebibytes: number): object => {
      const data = Array<string>(mebibytes).fill(mebibyte)
      // With the commas and the frame, the page has exactly that many MiB.
      return { data: [...data.slice(1), mebibyte.slice(overhead)] }
    }
    const owners = Array.from({ length: 6 }, () => ({}))
    const size = async (page: object, tenant: number, owner = owners[tenant]!): Promise<number> =>
      (await serializer.serialize(page, tenant, owner)).length / 2 ** 20
    const isRefused = (size: Promise<number>) => expect(size).rejects.toThrow('The service is busy')
    const { maxBytes, maxBytesPerTenant } = pageMemory
    expect([maxBytes, maxBytesPerTenant]).toEqual([128 * 2 ** 20, 32 * 2 ** 20])

    expect(await size(pageOf(16), 1)).toBe(16)
    await isRefused(size(pageOf(17), 1, {}))
    expect(await size(pageOf(16), 1, {})).toBe(16)
    await isRefused(size(pageOf(2), 1, {}))
    for (const tenant of [2, 3, 4]) expect(await size(pageOf(33), tenant)).toBe(33)
    await isRefused(size(pageOf(2), 5))
    await isRefused(size(Buffer.alloc(64 * 1024 + 1), 5))
    expect(await size(Buffer.alloc(64 * 1024), 5)).toBe(1 / 16)
    serializer.release(owners[1]!)
    expect(await size(pageOf(16), 5)).toBe(16)
  })
})
