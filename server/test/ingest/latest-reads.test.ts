import { expect, it } from 'vitest'
import type { PubSub } from '../../src/db/pubsub.ts'
import { LatestReads, wantedTopic } from '../../src/ingest/latest-reads.ts'
import { now } from '../../src/kernel/clock.ts'
import { TestClock } from '../support/tracking.ts'

it('stay watched while another organization watches hundreds of readers', async () => {
  const clock = new TestClock('2026-05-04T12:00:00Z')
  const pubsub: Pick<PubSub, 'publish'> = {
    async publish(topic, payload) {
      if (topic === wantedTopic) latestReads.onWatch(payload)
      else latestReads.onReads(payload)
    },
  }
  const latestReads = new LatestReads(clock, pubsub)
  const read = { antenna: 1, rssiDbm: null, observedAt: null, receivedAt: now(clock) }
  await latestReads.latest(1, 1)
  for (let readerId = 2; readerId < 300; readerId++) await latestReads.latest(2, readerId)
  latestReads.note(1, [{ ...read, tag: { type: 'rfid', value: 'A' } }])
  await latestReads.publish()
  expect((await latestReads.latest(1, 1)).map(({ tag }) => tag.value)).toEqual(['A'])
})
