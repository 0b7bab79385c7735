import { beforeEach, describe, expect, it } from 'vitest'
import { ReaderActivityBuffer } from '../../src/ingest/reader-activity-buffer.ts'
import { changeReader, getReader, removeReader } from '../../src/readers/commands.ts'
import { findDevice, listReaders } from '../../src/readers/readers.sql.ts'
import { listUnknownTopics } from '../../src/readers/unknown.sql.ts'
import { Site, database, useTracking } from '../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

describe('topics that match no reader', () => {
  it('are counted with their times, for the 200 latest topics', async () => {
    const { context: appContext } = context.app
    const buffer = new ReaderActivityBuffer(appContext)
    const topics = async () => (await listUnknownTopics(appContext.db.read)).map((one) => [one.topic, one.messages])
    for (let index = 0; index < 190; index++) buffer.noteTopic(`lastseen/early-${String(index).padStart(3, '0')}/reads`)
    await buffer.flush()
    expect(await topics()).toHaveLength(190)
    context.clock.set('2026-05-04T12:00:05Z')
    for (let index = 0; index < 300; index++) buffer.noteTopic(`lastseen/late-${String(index).padStart(3, '0')}/reads`)
    buffer.noteTopic('lastseen/late-000/reads')
    await buffer.flush()
    const kept = await topics()
    expect(kept).toHaveLength(200)
    expect(kept[0]).toEqual(['lastseen/late-000/reads', 2])
    expect(kept.every(([topic]) => String(topic).startsWith('lastseen/late-'))).toBe(true)
    context.clock.set('2026-05-04T12:00:10Z')
    buffer.noteTopic('lastseen/late-007/reads')
    await buffer.flush()
    expect((await listUnknownTopics(appContext.db.read))[0]).toEqual({
      topic: 'lastseen/late-007/reads',
      messages: 2,
      firstSeenAt: '2026-05-04T12:00:05.000000Z',
      lastSeenAt: '2026-05-04T12:00:10.000000Z',
    })
  })

  it('are truncated and stripped of characters that PostgreSQL cannot store', async () => {
    const { context: appContext } = context.app
    const buffer = new ReaderActivityBuffer(appContext)
    context.clock.set('2026-05-04T13:00:00Z')
    buffer.noteTopic(`lastseen/\u0000\uD800\n${'x'.repeat(60_000)}`)
    await buffer.flush()
    const [latest] = await listUnknownTopics(appContext.db.read)
    expect(latest!.topic).toBe(`lastseen/\uFFFD\uFFFD\uFFFD${'x'.repeat(188)}`)
  })
})

describe('antennas that no scan point names', () => {
  let site: Site
  let other: Site
  const see = async (of: Site, ...antennas: number[]): Promise<void> => {
    const buffer = new ReaderActivityBuffer(context.app.context)
    const device = (await findDevice(context.app.context.db.read, of.org.orgId, of.readerId))!
    buffer.noteAntennas(
      device,
      antennas.map((antenna) => ({ antenna })),
    )
    await buffer.flush()
  }
  const shown = async (of: Site) =>
    (await getReader(context.app.context, of.org.orgId, of.readerId)).unknownAntennas.map((one) => [
      one.antenna,
      one.reads,
    ])

  beforeEach(async () => {
    site = await Site.open(context.app, 'Dock')
    other = await Site.open(context.app, 'Dock')
  })

  it('are shown only with their reader', async () => {
    await see(site, 1, 1, 3, 2, 3)
    await see(site, 3)
    expect(await shown(site)).toEqual([
      [2, 1],
      [3, 3],
    ])
    expect(await shown(other)).toEqual([])
    const { rows } = await listReaders(context.app.context.db.read, site.org.orgId, { limit: 10, offset: 0 })
    expect(rows.map((one) => one.unknownAntennas)).toEqual([
      [
        { antenna: 2, reads: 1 },
        { antenna: 3, reads: 3 },
      ],
    ])
  })

  it('are not shown once a scan point names them, even without a location', async () => {
    await see(site, 2, 3)
    const scanPoints = [{ antenna: 2, locationId: null }]
    await changeReader(context.app.context, site.org.orgId, site.readerId, { scanPoints })
    expect(await shown(site)).toEqual([[3, 1]])
  })

  it('are 64 at most, and deleted with the reader', async () => {
    await see(site, ...Array.from({ length: 60 }, (_, index) => 100 + index))
    context.clock.set('2026-05-04T14:00:00Z')
    await see(site, ...Array.from({ length: 1000 }, (_, index) => 200 + index))
    expect((await shown(site)).map(([antenna]) => antenna)).toEqual(
      Array.from({ length: 64 }, (_, index) => 200 + index),
    )
    await removeReader(context.app.context, site.org.orgId, site.readerId)
    await see(other, 9)
    const rows = await database(context.app)`select reader_id from unknown_antennas`
    expect(rows.map((row) => row['reader_id'])).toEqual(expect.not.arrayContaining([site.readerId]))
  })
})
