import { describe, expect, it } from 'vitest'
import { FairQueue } from '../../src/admission/fair-queue.ts'
import { ReadIngestor } from '../../src/ingest/read-ingestor.ts'
import { removeReader } from '../../src/readers/commands.ts'
import type { Device } from '../../src/readers/reader.ts'
import { Site, database, useTracking } from '../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

const at = (clock: string): string => `2026-05-04T${clock}Z`

/** A read ingestor that records every event it publishes. */
async function opened(retentionDays = 400) {
  const site = await Site.open(context.app, 'Dock', 'Hall')
  const events: [string, unknown][] = []
  const ingestor = new ReadIngestor({
    onCounted: () => undefined,
    onBatch: () => undefined,
    db: context.app.context.db,
    clock: context.clock,
    queue: new FairQueue({ maxInFlight: 4 }),
    retentionDays,
    quotas: context.app.context.quotas,
    onRecorded: (_device, { accepted, ignored, warning }) => events.push(['taken', { accepted, ignored, warning }]),
    onMoved: (orgId) => events.push(['moved', orgId]),
    onUnknown: (_device, reads) => events.push(['unknown', reads.map(({ read }) => read.value)]),
    onRefused: ({ reason }) => events.push(['refused', reason]),
  })
  const device: Device = {
    orgId: site.org.orgId,
    readerId: site.readerId,
    name: 'Gate',
    topicKey: '',
    format: 'auto',
    clock: 'reader',
  }
  const take = (message: unknown, more: Partial<Device> = {}) =>
    ingestor.process(
      { ...device, ...more },
      Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)),
      null,
    )
  return { site, events, take, ingestor, device }
}

describe('the read ingestor', () => {
  it('publishes events once a message is durable: moves first, then the reads', async () => {
    const { site, events, take } = await opened()
    const pallet = await site.createAsset('Pallet')
    expect(await take([{ tag: pallet.tag, observed_at: at('10:00:00') }])).toEqual({ accepted: 1, ignored: 0 })
    expect(events).toEqual([
      ['moved', site.org.orgId],
      ['taken', { accepted: 1, ignored: 0, warning: null }],
    ])
    expect(await site.history(pallet)).toHaveLength(1)
  })

  it('publishes no move event without moves', async () => {
    const { site, events, take } = await opened()
    const pallet = await site.createAsset('Pallet')
    const message = [{ tag: pallet.tag, observed_at: at('10:00:00') }]
    await take(message)
    events.length = 0
    expect(await take(message)).toEqual({ accepted: 1, ignored: 0 })
    expect(events).toEqual([['taken', { accepted: 1, ignored: 0, warning: null }]])
  })

  it('publishes unknown tags, and counts them as ignored', async () => {
    const { events, take } = await opened()
    expect(await take([{ tag: 'A-1' }, { tag: 'A-2' }, { antenna: 4 }])).toEqual({ accepted: 0, ignored: 3 })
    expect(events).toEqual([
      ['unknown', ['A-1', 'A-2']],
      ['taken', { accepted: 0, ignored: 3, warning: null }],
    ])
  })

  it('publishes nothing for a message in an unknown format', async () => {
    const { events, take } = await opened()
    expect(await take('hello')).toBeNull()
    expect(await take({ temperature: 21 })).toBeNull()
    expect(events).toEqual([])
  })

  it('discards a message over MQTT, which would be sent again, while the organization stores too much', async () => {
    const { site, events, ingestor, device } = await opened()
    const pallet = await site.createAsset('Pallet')
    const send = () =>
      ingestor.processOrDiscard(device, Buffer.from(JSON.stringify([{ tag: pallet.tag }])), 'lastseen/x')
    const { orgId } = site.org
    await database(context.app)`update organizations set stored_bytes = 6001 where org_id = ${orgId}`
    await context.app.context.quotas.set(orgId, { stored_bytes: 5000 })
    await send()
    const warning = 'Quota stored_bytes reached: the organization may have at most 5000 bytes of stored data'
    expect(events).toEqual([
      ['taken', { accepted: 0, ignored: 1, warning }],
      ['refused', 'over_quota'],
    ])
    events.length = 0
    await context.app.context.quotas.set(orgId, { stored_bytes: 5001 })
    await send()
    expect(events.at(-1)).toEqual(['taken', { accepted: 1, ignored: 0, warning: null }])
    expect(await site.history(pallet)).toHaveLength(1)
  })

  it('treats a heartbeat as a message without reads', async () => {
    const { events, take } = await opened()
    expect(await take([])).toEqual({ accepted: 0, ignored: 0 })
    expect(events).toEqual([['taken', { accepted: 0, ignored: 0, warning: null }]])
  })

  it('checks the retention window on arrival, by the observed time (D30)', async () => {
    const { site, take } = await opened(10)
    const pallet = await site.createAsset('Pallet')
    const reads = ['2026-04-24T12:00:00Z', '2026-04-24T11:59:59.999Z', '2025-01-01T00:00:00Z']
    const message = reads.map((hmacTag) => ({ tag: pallet.tag, observed_at: hmacTag }))
    expect(await take(message)).toEqual({ accepted: 1, ignored: 2 })
    expect(await take(message.slice(2), { clock: 'server' })).toEqual({ accepted: 1, ignored: 0 })
    const corrected = { reads: message.slice(2), sent_at: '2025-01-01T00:00:30Z' }
    expect(await take(corrected, { clock: 'sent_at' })).toEqual({ accepted: 1, ignored: 0 })
    expect((await site.history(pallet)).map(([hmacTag]) => hmacTag)).toEqual([
      '2026-04-24T12:00:00.000Z',
      '2026-05-04T11:59:30.000Z',
      '2026-05-04T12:00:00.000Z',
    ])
  })

  it('does not record tags of expired reads as unknown', async () => {
    const { events, take } = await opened(10)
    expect(await take([{ tag: 'OLD', observed_at: '2025-01-01T00:00:00Z' }])).toEqual({ accepted: 0, ignored: 1 })
    expect(events).toEqual([['taken', { accepted: 0, ignored: 1, warning: null }]])
  })

  it('gives every concurrent message its own counts', async () => {
    const { site, take } = await opened()
    const pallet = await site.createAsset('Pallet')
    const messages = Array.from({ length: 30 }, (_, index) => [
      ...Array.from({ length: index % 4 }, () => ({ tag: pallet.tag, observed_at: at('10:00:00') })),
      ...Array.from({ length: index % 3 }, () => ({ tag: `nobody-${index}` })),
    ])
    const taken = await Promise.all(messages.map((message) => take(message)))
    expect(taken).toEqual(messages.map((_, index) => ({ accepted: index % 4, ignored: index % 3 })))
  })

  it('fails when the reads could not be written, and publishes nothing', async () => {
    const { site, events, ingestor, device } = await opened()
    const pallet = await site.createAsset('Pallet')
    const bytes = Buffer.from(JSON.stringify([{ tag: pallet.tag, observed_at: at('10:00:00') }]))
    await expect(ingestor.process({ ...device, orgId: Number.NaN }, bytes, null)).rejects.toThrow()
    expect(events).toEqual([])
    expect(await ingestor.process(device, bytes, null)).toEqual({ accepted: 1, ignored: 0 })
  })

  it('accepts no read of a reader that was just deleted', async () => {
    const { site, events, take } = await opened()
    const pallet = await site.createAsset('Pallet')
    await removeReader(context.app.context, site.org.orgId, site.readerId)
    expect(await take([{ tag: pallet.tag, observed_at: at('10:00:00') }])).toEqual({ accepted: 0, ignored: 1 })
    expect(await site.history(pallet)).toEqual([])
    expect(events.map(([what]) => what)).not.toContain('moved')
  })
})
