import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { FairQueue } from '../../src/admission/fair-queue.ts'

afterEach(() => void vi.useRealTimers())

/** Starts units that stay in flight until they are released, and records the order in which they started. */
class Load {
  readonly started: string[] = []
  readonly rejected: string[] = []
  readonly #queue: FairQueue

  constructor(queue: FairQueue) {
    this.#queue = queue
  }

  async add(tenant: string, count: number, cost = 1, isAbandoned = () => false): Promise<void> {
    for (let index = 0; index < count; index++)
      void this.#queue.acquire(tenant, cost, isAbandoned).then(
        () => this.started.push(tenant),
        () => this.rejected.push(tenant),
      )
    await flushMicrotasks()
  }

  async release(tenant: string, times = 1): Promise<void> {
    for (let index = 0; index < times; index++) {
      this.#queue.release(tenant)
      await flushMicrotasks()
    }
  }

  count(tenant: string): number {
    return this.started.filter((one) => one === tenant).length
  }
}

const flushMicrotasks = async (): Promise<void> => {
  for (let ticks = 0; ticks < 5; ticks++) await Promise.resolve()
}

describe('The fair queue', () => {
  it('starts work at once while there are free slots', async () => {
    const queue = new FairQueue({ maxInFlight: 8 })
    const load = new Load(queue)
    await load.add('a', 3)
    expect(load.started).toEqual(['a', 'a', 'a'])
    expect([queue.inFlight, queue.waiting]).toEqual([3, 0])
  })

  it('never lets one tenant hold every slot, so that another tenant starts at once', async () => {
    const load = new Load(new FairQueue({ maxInFlight: 16 }))
    await load.add('slow', 40)
    expect(load.count('slow')).toBe(12)
    await load.add('newcomer', 1)
    expect(load.count('newcomer')).toBe(1)
  })

  it('reserves slots for other tenants while several tenants are slow', async () => {
    const load = new Load(new FairQueue({ maxInFlight: 16 }))
    for (const tenant of ['a', 'b', 'c', 'd']) await load.add(tenant, 40)
    await load.add('newcomer', 1)
    expect(load.count('newcomer')).toBe(1)
  })

  it('leaves no slot idle that a waiting tenant may take', async () => {
    const queue = new FairQueue({ maxInFlight: 8 })
    const load = new Load(queue)
    await load.add('a', 20)
    expect(queue.inFlight).toBe(6)
    await load.release('a', 5)
    expect(queue.inFlight).toBe(6)
  })

  it('serves waiting tenants in turn, however much one of them asks for', async () => {
    const load = new Load(new FairQueue({ maxInFlight: 1 }))
    await load.add('first', 1)
    await load.add('busy', 100, 16)
    await load.add('quiet', 2, 16)
    load.started.length = 0
    await load.release('first')
    for (let times = 0; times < 5; times++) await load.release(load.started.at(-1)!)
    expect(load.started).toEqual(['busy', 'quiet', 'busy', 'quiet', 'busy', 'busy'])
  })

  it('shares by cost: a tenant with units of cost 16 starts one while another starts sixteen of cost 1', async () => {
    const load = new Load(new FairQueue({ maxInFlight: 1 }))
    await load.add('first', 1)
    await load.add('large', 50, 16)
    await load.add('small', 400, 1)
    load.started.length = 0
    await load.release('first')
    for (let times = 1; times < 17 * 8; times++) await load.release(load.started.at(-1)!)
    expect(load.count('large')).toBe(8)
    expect(load.count('small')).toBe(128)
  })

  it('keeps the order of one tenant', async () => {
    const queue = new FairQueue({ maxInFlight: 1 })
    const order: number[] = []
    await queue.acquire('a')
    for (const number of [1, 2, 3]) void queue.run('a', 1, async () => void order.push(number))
    queue.release('a')
    await vi.waitFor(() => expect(order).toEqual([1, 2, 3]))
  })

  it('rejects requests when the queue of the tenant is full, with the contract’s 429', async () => {
    const queue = new FairQueue({ maxInFlight: 2, maxWaitingPerTenant: 2, maxWaiting: 3 })
    const load = new Load(queue)
    await load.add('a', 3)
    await expect(queue.acquire('a')).rejects.toMatchObject({ kind: 'rate_limited', headers: { 'Retry-After': '1' } })
    expect(queue.waiting).toBe(2)
  })

  it('lets a tenant with nothing waiting queue one unit even when the queue is full', async () => {
    const queue = new FairQueue({ maxInFlight: 1, maxWaiting: 1 })
    const load = new Load(queue)
    await load.add('a', 3)
    await load.add('b', 2)
    expect(load.rejected).toEqual(['a', 'b'])
    expect(queue.waiting).toBe(2)
  })

  it('rejects only requests that have waited too long', async () => {
    vi.useFakeTimers()
    const queue = new FairQueue({ maxInFlight: 1, timeoutMs: 1000 })
    const load = new Load(queue)
    await load.add('a', 2)
    await vi.advanceTimersByTimeAsync(600)
    await load.add('a', 1)
    await vi.advanceTimersByTimeAsync(500)
    expect([load.rejected.length, queue.waiting]).toEqual([1, 1])
    await load.release('a')
    expect(load.started).toEqual(['a', 'a'])
  })

  it('drops requests that were cancelled while they waited', async () => {
    const queue = new FairQueue({ maxInFlight: 1 })
    const load = new Load(queue)
    await load.add('a', 1)
    await load.add('b', 1, 1, () => true)
    await load.add('c', 1)
    await load.release('a')
    expect(load.started).toEqual(['a', 'c'])
    expect(load.rejected).toEqual(['b'])
  })

  it('rejects waiting requests when it is closed', async () => {
    const queue = new FairQueue({ maxInFlight: 1 })
    const load = new Load(queue)
    await load.add('a', 2)
    queue.close()
    await flushMicrotasks()
    expect(load.rejected).toEqual(['a'])
    await expect(queue.acquire('b')).rejects.toThrow('closed')
  })

  it('releases the slot of work that fails', async () => {
    const queue = new FairQueue({ maxInFlight: 1 })
    await expect(queue.run('a', 1, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(queue.inFlight).toBe(0)
  })

  it('never exceeds its slots and starts every request, in any order of events', async () => {
    const event = fc.record({ tenant: fc.integer({ min: 1, max: 5 }), cost: fc.integer({ min: 1, max: 40 }) })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 9 }), fc.array(event, { maxLength: 60 }), async (slots, events) => {
        const queue = new FairQueue({ maxInFlight: slots })
        let done = 0
        await Promise.all(
          events.map(({ tenant, cost }) =>
            queue.run(tenant, cost, async () => {
              expect(queue.inFlight).toBeLessThanOrEqual(slots)
              await Promise.resolve()
              done++
            }),
          ),
        )
        expect([done, queue.inFlight, queue.waiting]).toEqual([events.length, 0, 0])
      }),
    )
  })
})
