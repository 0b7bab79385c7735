import { expect, it } from 'vitest'
import { parseCidr } from '../../src/kernel/ip-range.ts'
import { SecretBox } from '../../src/kernel/secret-box.ts'
import { GuardedConnector } from '../../src/webhooks/ssrf-guard.ts'
import { Deliverer } from '../../src/webhooks/delivery/deliverer.ts'
import { TestClock, eventually } from '../support/tracking.ts'
import { WebhookOrg, urlOf, useWebhookNetwork } from '../support/webhooks.ts'

const clock = new TestClock(new Date().toISOString())
const network = useWebhookNetwork({ clock, settings: { LASTSEEN_ROLES: 'api' } })

/** The only process that delivers. It claims nothing but what its sweeps find. */
function openDeliverer(onAttempt: (isDelivered: boolean) => void): Deliverer {
  const { app, authority, names } = network
  const allowed = [parseCidr('127.0.0.1')!]
  return new Deliverer({
    onSwept: () => undefined,
    runSweep: (sweep) => sweep(),
    db: app.context.db,
    clock,
    secretBox: new SecretBox(app.context.keys.secretKey, 'webhook secrets'),
    target: new GuardedConnector({ allowed, ca: authority.certificate, nameServers: [names.address] }),
    timeoutMs: 5000,
    retryDelaysMs: [],
    maxConcurrency: 4,
    maxInFlight: 10,
    sweepMs: 3_600_000,
    onAttempt: (_orgId, _webhookId, { isDelivered }) => onAttempt(isDelivered),
    onDropped: () => undefined,
    onFailure: (error) => expect.unreachable(String(error)),
  })
}

it('a move that a sweep finds after a quiet time is delivered at the first attempt [D33]', async () => {
  const receiver = await network.receiver()
  const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
  const attempts: boolean[] = []
  const deliverer = openDeliverer((isDelivered) => attempts.push(isDelivered))
  for (let time = 1; time <= 3; time++) {
    await webhookOrg.move()
    await deliverer.sweep()
    await eventually(async () => expect(attempts).toHaveLength(time))
    clock.set(new Date(clock.millis() + 40_000).toISOString())
  }
  await deliverer.stop(0)
  expect(attempts).toEqual([true, true, true])
  expect(receiver.received).toHaveLength(3)
})
