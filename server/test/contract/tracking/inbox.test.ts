import { describe, expect, it } from 'vitest'
import { Site, database, eventually, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

const path = '/api/v1/readers/inbox'

interface Entry {
  tag_type: string
  value: string
}

async function opened(): Promise<{
  site: Site
  inbox: (query?: Record<string, number>) => Promise<{ data: Entry[]; total_count: number }>
}> {
  const site = await Site.open(context.app, 'Dock')
  const { accessToken } = await site.org.signIn('viewer')
  const inbox = async (query: Record<string, number> = {}) =>
    (await context.app.anonymous('GET', path, { token: accessToken, query })).json
  return { site, inbox }
}

const unknown = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => ({ tag: `${prefix}-${String(index).padStart(4, '0')}` }))

describe('the inbox of unknown tags', () => {
  it('lists tags that were read and are not attached, with the reader, the count and the time', async () => {
    const { site, inbox } = await opened()
    const tag = 'E28011700000020A1B2C3D4E'
    await site.post([
      { tag, antenna: 2 },
      { tag: tag.toLowerCase(), antenna: 2 },
    ])
    await eventually(async () =>
      expect(await inbox()).toEqual({
        data: [
          {
            tag_type: 'rfid',
            value: tag,
            reader_id: site.readerId,
            antenna: 2,
            reads: 2,
            first_seen_at: '2026-05-04T12:00:00.000Z',
            last_seen_at: '2026-05-04T12:00:00.000Z',
          },
        ],
        limit: 50,
        offset: 0,
        total_count: 1,
      }),
    )
    context.clock.set('2026-05-04T12:00:01Z')
    await site.post([{ tag, antenna: 1 }])
    await eventually(async () =>
      expect((await inbox()).data).toMatchObject([
        { antenna: 1, reads: 3, first_seen_at: '2026-05-04T12:00:00.000Z', last_seen_at: '2026-05-04T12:00:01.000Z' },
      ]),
    )
  })

  it('leaves out tags that are attached to an asset or a location, also those attached since', async () => {
    const { site, inbox } = await opened()
    const known = await site.createAsset('Known')
    await site.api.post(`/api/v1/locations/${site.locations[0]!.id}/tags`, { tag_type: 'barcode', value: 'SHELF' })
    await site.post([{ tag: known.tag }, { tag: 'SHELF' }, { tag: 'A-1' }, { tag: 'A-2' }])
    await eventually(async () => expect((await inbox()).data.map((one) => one.value)).toEqual(['A-1', 'A-2']))
    await site.api.post(`/api/v1/assets/${known.id}/tags`, { tag_type: 'barcode', value: 'A-1' })
    expect(await inbox()).toMatchObject({ total_count: 1, data: [{ value: 'A-2' }] })
    await site.api.post(`/api/v1/locations/${site.locations[0]!.id}/tags`, { tag_type: 'barcode', value: 'A-2' })
    expect(await inbox()).toMatchObject({ total_count: 0, data: [] })
  })

  it('leaves out reads older than the retention time', async () => {
    const { site, inbox } = await opened()
    await site.post([{ tag: 'OLD', observed_at: '2020-01-01T00:00:00Z' }, { tag: 'NEW' }])
    await eventually(async () => expect((await inbox()).data.map((one) => one.value)).toEqual(['NEW']))
  })

  it('is separate for every organization', async () => {
    const [one, two] = [await opened(), await opened()]
    await one.site.post([{ tag: 'MINE' }])
    await eventually(async () => expect((await one.inbox()).total_count).toBe(1))
    expect((await two.inbox()).total_count).toBe(0)
  })

  it('is paged, latest first', async () => {
    const { site, inbox } = await opened()
    for (const [second, tag] of [
      [10, 'FIRST'],
      [11, 'SECOND'],
      [12, 'THIRD'],
    ] as const) {
      context.clock.set(`2026-05-04T12:00:${second}Z`)
      await site.post([{ tag }])
      await eventually(async () => expect((await inbox()).data[0]?.value).toBe(tag))
    }
    expect((await inbox({ limit: 2 })).data.map((one) => one.value)).toEqual(['THIRD', 'SECOND'])
    expect(await inbox({ limit: 2, offset: 2 })).toMatchObject({ total_count: 3, data: [{ value: 'FIRST' }] })
    expect(await inbox({ offset: 3 })).toMatchObject({ total_count: 3, data: [] })
  })

  it('holds a thousand tags and drops those not seen for longest', async () => {
    const { site, inbox } = await opened()
    const stored = async (): Promise<number> => {
      const rows = await database(
        context.app,
      )`select count(*) as count from unknown_tags where org_id = ${site.org.orgId}`
      return rows[0]!['count'] as number
    }
    context.clock.set('2026-05-04T12:01:00Z')
    await site.post(unknown(600, 'EARLY'))
    await eventually(async () => expect(await stored()).toBe(600))
    context.clock.set('2026-05-04T12:01:10Z')
    await site.post(unknown(700, 'LATE'))
    await eventually(async () => {
      const page = await inbox({ limit: 200 })
      expect(page.data[0]?.value).toMatch(/^LATE/)
      expect([page.total_count, await stored()]).toEqual([1000, 1000])
    })
    const values: string[] = []
    for (let offset = 0; offset < 1000; offset += 200) {
      const page = await inbox({ limit: 200, offset })
      values.push(...page.data.map((one) => one.value))
    }
    expect(values.filter((value) => value.startsWith('LATE'))).toHaveLength(700)
    expect(new Set(values).size).toBe(1000)
  })
})
