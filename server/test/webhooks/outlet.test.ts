import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parseRange } from '../../src/kernel/address.ts'
import { Outlet, type Outcome } from '../../src/webhooks/send.ts'
import { Target } from '../../src/webhooks/target.ts'
import { Authority } from '../support/certificates.ts'
import { Receiver } from '../support/receiver.ts'

const timeoutMs = 80
const signed = { headers: {}, body: Buffer.from('{}') }

describe('an outlet whose endpoint never answers', () => {
  const authority = new Authority()
  let receiver: Receiver
  let outlet: Outlet

  beforeAll(async () => {
    receiver = await Receiver.open(authority.issue('IP:127.0.0.1'))
    receiver.behaviour = () => undefined
    const target = new Target({ allowed: [parseRange('127.0.0.1')!], ca: authority.certificate, nameServers: [] })
    outlet = new Outlet(target, { url: `https://127.0.0.1:${receiver.port}/`, connections: 2, timeoutMs })
  })
  afterAll(async () => {
    await outlet.close()
    await receiver.close()
    authority.remove()
  })

  /** Sends again as soon as one is given up, as a lane does. */
  const keepSending = (times: number): Promise<Outcome[]> =>
    new Promise((resolve) => {
      const outcomes: Outcome[] = []
      const next = (): void =>
        outlet.post(signed, (outcome) => {
          if (outcomes.push(outcome) === times) resolve(outcomes)
          else next()
        })
      next()
    })

  it('gives each request its whole time, and watches all of them with one clock', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const first = keepSending(10)
    await new Promise((resume) => setTimeout(resume, timeoutMs / 2))
    const outcomes = [...(await keepSending(10)), ...(await first)]
    const clocks = timers.mock.calls.filter(([callback]) => String(callback).includes('lookRound'))
    timers.mockRestore()
    for (const { isDelivered, status, error, durationMs } of outcomes) {
      expect([isDelivered, status, error]).toEqual([false, null, 'timeout'])
      expect(durationMs).toBeGreaterThanOrEqual(timeoutMs - 1)
    }
    // One for each that is given up, and the first; a few more where a timer was early by a fraction.
    expect(clocks.length).toBeLessThan(30)
  })
})
