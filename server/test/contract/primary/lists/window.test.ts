import { beforeEach, describe, expect, it } from 'vitest'
import { useApp } from '../../../support/app.ts'
import type { Client } from '../../../support/client.ts'
import { type Kind, type RecordJson, create, keysOf, remove } from '../../../support/master-data.ts'

const start = Date.parse('2031-03-04T05:06:07.890Z')
let millis = start
const context = useApp({ clock: { millis: () => millis } })
const kinds: [Kind][] = [['assets'], ['locations']]
/** A moment some milliseconds from the start, down to the microsecond. */
const at = (offsetMs: number, micros = '000'): string =>
  new Date(start + offsetMs).toISOString().replace('Z', `${micros}Z`)

describe.each(kinds)('the effective window of the list of %s (D15)', (kind) => {
  const path = `/api/v1/${kind}`
  let client: Client

  beforeEach(async () => {
    millis = start
    client = (await context.app.newOrg()).full
  })

  const views = ['', 'q=needle', 'external_key=K', 'is_active=true', 'sort=-name', 'include_deleted=true']

  /** Whether the record is listed at that time. All variants of the list and their totals must agree. */
  async function isListed(offsetMs: number): Promise<boolean> {
    millis = start + offsetMs
    const answers = []
    for (const view of views) {
      const reply = await client.get(path, view)
      expect(reply.json.total_count).toBe(reply.json.data.length)
      answers.push(keysOf(reply).includes('K'))
    }
    expect(new Set(answers).size, JSON.stringify(answers)).toBe(1)
    return answers[0]!
  }

  const make = (body: object): Promise<RecordJson> =>
    create(client, kind, { external_key: 'K', name: 'needle', ...body })

  it.each([
    ['begins with valid_from, that moment included', { valid_from: at(1000) }, [0, 999], [1000, 1001, 60_000]],
    ['ends before valid_to, that moment excluded', { valid_to: at(1000) }, [1000, 1001, 60_000], [0, 999]],
    ['lies between the two', { valid_from: at(1000), valid_to: at(2000) }, [0, 999, 2000, 2001], [1000, 1500, 1999]],
    ['is judged to the microsecond at its beginning', { valid_from: at(1000, '001') }, [0, 1000], [1001]],
    ['is judged to the microsecond at its end', { valid_to: at(1000, '001') }, [1001], [0, 1000]],
    ['has no end without valid_to', { valid_from: at(-1000) }, [], [0, 60_000, 800_000]],
    [
      'is over from the start when it lies in the past',
      { valid_from: at(-2000), valid_to: at(-1000) },
      [0, 60_000],
      [],
    ],
    ['is over when it ends as the list is read', { valid_from: at(-2000), valid_to: at(0) }, [0], []],
    ['is a matter of instants, not of offsets', { valid_from: at(1000).replace('Z', '-00:00') }, [999], [1000]],
  ])('%s', async (_what, body, outside, inside) => {
    await make(body)
    const moments = [...outside.map((ms) => [ms, false] as const), ...inside.map((ms) => [ms, true] as const)]
    for (const [ms, listed] of moments.sort(([a], [b]) => a - b)) expect([ms, await isListed(ms)]).toEqual([ms, listed])
  })

  it('is independent of is_active', async () => {
    await make({ is_active: false })
    await create(client, kind, { external_key: 'LATER', name: 'x', is_active: true, valid_from: at(60_000) })
    await create(client, kind, {
      external_key: 'OVER',
      name: 'x',
      is_active: false,
      valid_from: at(-2000),
      valid_to: at(-1000),
    })
    expect(keysOf(await client.get(path))).toEqual(['K'])
    expect(keysOf(await client.get(path, 'is_active=false'))).toEqual(['K'])
    expect(keysOf(await client.get(path, 'is_active=true'))).toEqual([])
    millis = start + 60_000
    expect(keysOf(await client.get(path, 'is_active=true'))).toEqual(['LATER'])
  })

  it('is not lifted by include_deleted, and applies to deleted records too', async () => {
    const early = await create(client, kind, { external_key: 'EARLY', name: 'x', valid_from: at(10_000) })
    const short = await create(client, kind, { external_key: 'SHORT', name: 'x', valid_to: at(5000) })
    await create(client, kind, { external_key: 'LIVE-EARLY', name: 'x', valid_from: at(10_000) })
    for (const row of [early, short]) await remove(client, kind, row.id)
    const all = async (): Promise<string[]> => {
      const reply = await client.get(path, 'include_deleted=true')
      expect(reply.json.total_count).toBe(reply.json.data.length)
      return keysOf(reply)
    }
    expect(await all()).toEqual(['SHORT'])
    millis = start + 5000
    expect(await all()).toEqual([])
    millis = start + 10_000
    expect(await all()).toEqual(['EARLY', 'LIVE-EARLY'])
  })

  it('does not hide a record on its own path', async () => {
    const row = await make({ valid_from: at(-2000), valid_to: at(-1000) })
    expect(await isListed(0)).toBe(false)
    const one = `${path}/${row.id}`
    expect((await client.get(one)).json.data).toEqual(row)
    expect((await client.post(`${one}/tags`, { tag_type: 'rfid', value: 'T' })).status).toBe(201)
    expect((await client.post(`${one}/rename`, { external_key: 'K' })).status).toBe(200)
    expect((await client.delete(one)).status).toBe(204)
  })

  it('does not free the key while the record is outside of it', async () => {
    await make({ valid_from: at(-2000), valid_to: at(-1000) })
    expect((await client.post(path, { external_key: 'K', name: 'x' })).status).toBe(409)
  })

  it('follows a PATCH of either end at once', async () => {
    const row = await make({})
    const change = async (body: object): Promise<void> => {
      expect((await client.patch(`${path}/${row.id}`, body)).status).toBe(200)
    }
    expect(await isListed(0)).toBe(true)
    await change({ valid_from: at(60_000) })
    expect(await isListed(1)).toBe(false)
    await change({ valid_from: at(-5000), valid_to: at(-1000) })
    expect(await isListed(2)).toBe(false)
    await change({ valid_to: null })
    expect(await isListed(3)).toBe(true)
    await change({ valid_to: at(5) })
    expect(await isListed(4)).toBe(true)
    expect(await isListed(5)).toBe(false)
  })

  it('lists a record from the moment of its creation on', async () => {
    await make({})
    expect(await isListed(0)).toBe(true)
  })
})
