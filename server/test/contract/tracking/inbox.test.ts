import { describe, expect, it } from 'vitest'
import { Site, database, eventually, expectApiError, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

const path = '/api/v1/readers/inbox'

interface Entry {
  tag_type: string
  value: string
}

async function opened(...locationNames: string[]): Promise<{
  site: Site
  manager: string
  inbox: (query?: Record<string, number>) => Promise<{ data: Entry[]; total_count: number }>
}> {
  const site = await Site.open(context.app, 'Dock', ...locationNames)
  const { accessToken } = await site.org.signIn('viewer')
  const { accessToken: manager } = await site.org.signIn('manager')
  const inbox = async (query: Record<string, number> = {}) =>
    (await context.app.anonymous('GET', path, { token: accessToken, query })).json
  return { site, manager, inbox }
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

  it('keeps the antenna and the time of the latest read, also when an earlier read arrives later', async () => {
    const { site, inbox } = await opened()
    const [early, late] = ['2026-05-04T11:00:00.000Z', '2026-05-04T11:30:00.000Z']
    await site.post([
      { tag: 'LATE', antenna: 1, observed_at: late },
      { tag: 'LATE', antenna: 2, observed_at: early },
    ])
    const entry = { antenna: 1, reads: 2, first_seen_at: early, last_seen_at: late }
    await eventually(async () => expect((await inbox()).data).toMatchObject([entry]))
    await site.post([{ tag: 'LATE', antenna: 2, observed_at: '2026-05-04T11:10:00Z' }])
    await eventually(async () => expect((await inbox()).data).toMatchObject([{ ...entry, reads: 3 }]))
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

describe('attaching a tag from the inbox', () => {
  const at = '2026-05-04T11:42:30.000Z'
  const tag = { tag_type: 'rfid', value: 'E28011700000020A0000CAFE' }

  /** A tag that was read at the dock and then in the hall. */
  async function readTag() {
    const opening = await opened('Hall')
    const { site, manager, inbox } = opening
    await site.post([
      { tag: tag.value, antenna: 1, observed_at: '2026-05-04T11:00:00Z' },
      { tag: tag.value, antenna: 2, observed_at: at },
    ])
    await eventually(async () => expect((await inbox()).total_count).toBe(1))
    const attach = (json: object, assetId?: number) =>
      context.app.anonymous('POST', `${path}/assets${assetId === undefined ? '' : `/${assetId}`}`, {
        token: manager,
        json,
      })
    return { ...opening, attach }
  }

  it('records its last read: the asset was seen there and then, which is a move and a webhook event [D32]', async () => {
    const { site, manager, inbox, attach } = await readTag()
    const admin = (await site.org.signIn('admin')).accessToken
    const hook = { url: 'https://hooks.example.com/lastseen' }
    await context.app.anonymous('POST', '/api/v1/webhooks', { token: admin, json: hook })
    const pallet = await site.createAsset('Pallet')
    const reply = await attach({ ...tag, value: tag.value.toLowerCase() }, pallet.id)
    expect([reply.status, reply.json]).toEqual([201, { data: { asset_id: pallet.id, last_read_at: at } }])
    expect(await site.history(pallet)).toEqual([[at, 'HALL', null]])
    expect(await site.assetLocations()).toEqual({ PALLET: ['HALL', at] })
    expect(await site.moves()).toMatchObject([{ asset: 'PALLET', from: null, to: 'Hall' }])
    const attempts = async () =>
      (await context.app.anonymous('GET', '/api/v1/webhooks', { token: admin })).json.data[0].last_attempt
    await eventually(async () => expect(await attempts()).not.toBeNull())
    expect((await inbox()).total_count).toBe(0)
    expect((await context.app.anonymous('GET', '/api/v1/overview', { token: manager })).json.data.seen_total).toBe(1)
  })

  it('creates an asset that was seen where and when its tag was last read', async () => {
    const { site, attach } = await readTag()
    const reply = await attach({ name: 'Crate', ...tag })
    const { asset_id: id } = reply.json.data
    expect([reply.status, reply.headers['location']]).toEqual([201, `/api/v1/assets/${id}`])
    expect(await site.history({ id })).toEqual([[at, 'HALL', null]])
  })

  it('does not move an asset that was seen later elsewhere [D30]', async () => {
    const { site, attach } = await readTag()
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: '2026-05-04T11:50:00Z' })
    expect((await attach(tag, pallet.id)).status).toBe(201)
    expect(await site.assetLocations()).toEqual({ PALLET: ['DOCK', '2026-05-04T11:50:00.000Z'] })
    expect((await site.history(pallet)).map(([, location]) => location)).toEqual(['HALL', 'DOCK'])
    expect(await site.moves()).toHaveLength(1)
  })

  it('counts a read for one asset only, and a tag that was never read makes no asset seen', async () => {
    const { site, attach } = await readTag()
    const [pallet, crate] = [await site.createAsset('Pallet'), await site.createAsset('Crate')]
    await attach(tag, pallet.id)
    const { tags } = (await site.api.get(`/api/v1/assets/${pallet.id}`)).json.data as {
      tags: { id: number; value: string }[]
    }
    const attached = tags.find(({ value }) => value === tag.value)!
    await site.api.delete(`/api/v1/assets/${pallet.id}/tags/${attached.id}`)
    const reply = await attach(tag, crate.id)
    expect([reply.status, reply.json.data.last_read_at]).toEqual([201, null])
    expect(await site.history(crate)).toEqual([])
  })

  it('is 409 while the tag is attached, and attaching over the public API records no sighting', async () => {
    const { site, attach } = await readTag()
    const pallet = await site.createAsset('Pallet')
    expect((await site.api.post(`/api/v1/assets/${pallet.id}/tags`, tag)).status).toBe(201)
    expect(await site.history(pallet)).toEqual([])
    expectApiError(await attach(tag, pallet.id), 409, 'conflict')
    expectApiError(await attach({ name: 'Crate', ...tag }), 409, 'conflict')
  })
})
