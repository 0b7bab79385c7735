import { expect, it } from 'vitest'
import { send } from '../support/client.ts'
import { Site, useTracking } from '../support/tracking.ts'

const context = useTracking('2026-09-22T00:00:00Z')

/** The samples of /metrics whose name has the prefix, by name and labels. */
async function samples(url: string, prefix: string): Promise<Record<string, number>> {
  const { text } = await send(url, 'GET', '/metrics')
  const lines = text.split('\n').filter((line) => line.startsWith(prefix))
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]))
}

it('The metrics count messages and reads by format and outcome', async () => {
  const { url } = context.app
  const site = await Site.open(context.app, 'Dock')
  const asset = await site.createAsset('Pallet')
  const at = '2026-09-21T10:00:00Z'
  const reads = [
    { tag: asset.tag, observed_at: at },
    { tag: 'E280999999999999', observed_at: at },
    { tag: asset.tag, observed_at: '2001-01-01T00:00:00Z' },
  ]
  const reply = await send(url, 'POST', '/ingest/v1/reads', { json: { reads }, token: site.token })
  expect(reply.json.data).toEqual({ accepted: 1, ignored: 2 })
  expect(await samples(url, 'lastseen_ingest_messages_total')).toEqual({
    'lastseen_ingest_messages_total{format="auto"}': 1,
  })
  expect(await samples(url, 'lastseen_ingest_reads_total')).toEqual({
    'lastseen_ingest_reads_total{format="auto",outcome="accepted"}': 1,
    'lastseen_ingest_reads_total{format="auto",outcome="unknown"}': 1,
    'lastseen_ingest_reads_total{format="auto",outcome="expired"}': 1,
  })
  expect(await samples(url, 'lastseen_ingest_batch_reads_sum')).toEqual({ lastseen_ingest_batch_reads_sum: 2 })
  expect(await samples(url, 'lastseen_ingest_waiting_bytes')).toEqual({ lastseen_ingest_waiting_bytes: 0 })
  expect(Object.keys(await samples(url, 'lastseen_build_info'))[0]).toMatch(/^lastseen_build_info\{version="\d/)
})
