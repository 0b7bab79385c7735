import { afterEach, expect, it } from 'vitest'
import { ByteBudget } from '../../src/admission/byte-budget.ts'
import { FairQueue } from '../../src/admission/fair-queue.ts'
import { bodyMemory } from '../../src/http/body.ts'
import { ingestRoutes } from '../../src/ingest/http-ingest.ts'
import { type MountedServer, mountRoutes } from '../support/mount-routes.ts'
import { sendRaw } from '../support/raw-http.ts'

const device = { orgId: 1, readerId: 1, name: 'Dock', topicKey: 'k', format: 'auto', clock: 'reader' }

let mounted: MountedServer
afterEach(() => mounted.close())

it('a message that waits for a slot after its body has arrived is recorded', async () => {
  const queue = new FairQueue({ maxInFlight: 1, timeoutMs: 8000 })
  await queue.acquire('another')
  mounted = await mountRoutes([], {
    rawRoutes: ingestRoutes({
      readers: { byToken: async () => device, formerByToken: () => null } as never,
      ingestor: { process: async () => ({ accepted: 1, ignored: 0 }) } as never,
      refusals: { note: () => undefined } as never,
      queue,
      bodyBudget: new ByteBudget(bodyMemory),
      trustProxy: false,
    }),
  })
  const head = ['POST /ingest/v1/reads HTTP/1.1', 'Host: a', 'User-Agent: a', 'Authorization: Bearer t']
  const reply = sendRaw(mounted.url, [...head, 'Content-Length: 2'], '[]')
  await expect.poll(() => queue.waiting).toBe(1)
  // The request has ended, and Node has closed it.
  await new Promise((resume) => setImmediate(() => setImmediate(resume)))
  queue.release('another')
  expect((await reply).status).toBe(202)
})
