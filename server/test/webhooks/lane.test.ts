import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parseRange } from '../../src/kernel/address.ts'
import { now, systemClock } from '../../src/kernel/clock.ts'
import { testMove } from '../../src/webhooks/payload.ts'
import { Outlet } from '../../src/webhooks/send.ts'
import { Target } from '../../src/webhooks/target.ts'
import { Lane } from '../../src/worker/lane.ts'
import { Authority } from '../support/certificates.ts'
import { Receiver } from '../support/receiver.ts'
import { eventually } from '../support/tracking.ts'

const places = 16
const from = { webhookId: 1, secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` }

describe('a lane that is given many events at once', () => {
  const authority = new Authority()
  let receiver: Receiver
  let lane: Lane
  /** For each turn of the loop in which attempts began, how many. */
  const begun = new Map<number, number>()
  let turns = 0

  beforeAll(async () => {
    receiver = await Receiver.open(authority.issue('IP:127.0.0.1'))
    const target = new Target({ allowed: [parseRange('127.0.0.1')!], ca: authority.certificate, nameServers: [] })
    const nothing = (): void => undefined
    const needs = { clock: systemClock, target, timeoutMs: 20_000, pausesMs: [], places }
    lane = new Lane({ ...needs, onAttempt: nothing, onDropped: nothing })
    lane.aim(`https://127.0.0.1:${receiver.port}/`, 1)
    const original = Outlet.prototype.post
    vi.spyOn(Outlet.prototype, 'post').mockImplementation(function (this: Outlet, ...about) {
      begun.set(turns, (begun.get(turns) ?? 0) + 1)
      return original.apply(this, about)
    })
  })
  afterAll(async () => {
    vi.restoreAllMocks()
    await lane.close(0)
    await receiver.close()
    authority.remove()
  })

  it('begins two in a turn of the loop, so that others are heard in between, and sends all of them in their order', async () => {
    // The answers come together, as those of an endpoint that takes long for each do.
    const waiting: (() => void)[] = []
    receiver.behaviour = (response) => void waiting.push(() => response.writeHead(204).end())
    let isOver = false
    const count = (): void => {
      turns++
      if (!isOver) setImmediate(count)
    }
    count()
    const ids = Array.from({ length: 3 * places }, (_, index) => `delivery-${index}`)
    const done: string[] = []
    for (const id of ids) {
      const move = testMove(id, now(systemClock))
      lane.take({ move, period: 1 }, from, () => done.push(id))
    }
    for (let round = 1; round <= 3; round++) {
      await eventually(async () => expect(receiver.received).toHaveLength(round * places))
      for (const answer of waiting.splice(0)) answer()
    }
    await eventually(async () => expect(done).toHaveLength(ids.length))
    isOver = true
    expect([...begun.values()].reduce((sum, many) => sum + many)).toBe(ids.length)
    expect(Math.max(...begun.values())).toBe(2)
    const sent = receiver.received.map((one) => one.headers['webhook-id'])
    for (let round = 0; round < 3; round++) {
      const range = [round * places, (round + 1) * places] as const
      expect(new Set(sent.slice(...range))).toEqual(new Set(ids.slice(...range)))
    }
  })
})
