import { EventEmitter } from 'node:events'
import type { Worker } from 'node:cluster'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { FamilyBuckets, type Supervisor, familyHome } from '../../src/app/family-buckets.ts'
import { type Drawn, type HeldBucket, burst, memoryLimiter, rateState } from '../../src/http/rate-limit.ts'

const frozen = 1_700_000_000_000
let millis = frozen
const clock = (): number => millis
beforeEach(() => {
  millis = frozen
})

/** The line to a worker, and what came over it. What a real one does with it is tested with real workers. */
class Line extends EventEmitter {
  heard: unknown[] = []
  isOpen = true
  readonly process = new EventEmitter()
  #lastId = 0
  isConnected(): boolean {
    return this.isOpen
  }
  send(message: unknown): void {
    this.heard.push(message)
  }
  ask(message: unknown): void {
    this.emit('message', message)
  }
  draw(...keys: string[]): void {
    this.ask({ draw: keys.map((key) => [++this.#lastId, key]) })
  }
  close(): void {
    this.isOpen = false
    this.process.emit('close')
  }
}

const left = (tokens: number) => ({ admitted: true, tokens, filledAt: frozen })
const bucket = (key: string, tokens: number): HeldBucket => ({ key, tokens, filledAt: frozen })

describe('Buckets of a family', () => {
  let buckets: FamilyBuckets
  const join = (): Line => {
    const line = new Line()
    buckets.serve(line as unknown as Worker)
    return line
  }
  /** A bucket with 117 tokens, lent after three draws. */
  const lend = (line: Line, key: string): void => {
    line.draw(key, key, key)
    const { drawn } = line.heard.pop() as { drawn: unknown[][] }
    expect(drawn.map(([, outcome]) => outcome)).toEqual([left(119), left(118), { ...left(117), isLent: true }])
  }

  beforeEach(() => {
    buckets = new FamilyBuckets(clock)
  })

  it('are one for all workers, and answered in the order of the questions', () => {
    const [one, two] = [join(), join()]
    one.draw('a', 'b', 'a')
    two.draw('a')
    one.draw('b')
    expect(one.heard).toEqual([
      {
        drawn: [
          [1, left(119)],
          [2, left(119)],
          [3, left(118)],
        ],
      },
      { drawn: [[4, left(118)]] },
    ])
    expect(two.heard).toEqual([{ drawn: [[1, left(117)]] }])
  })

  it('are empty after 120 draws, whoever drew', () => {
    const [one, two] = [join(), join()]
    for (let count = 0; count < 60; count++) for (const line of [one, two]) line.draw('a')
    one.draw('a')
    expect(one.heard.at(-1)).toEqual({ drawn: [[61, { admitted: false, tokens: 0, filledAt: frozen }]] })
  })

  it('are lent to the worker that draws three times in a row', () => {
    const [one, two] = [join(), join()]
    one.draw('a', 'a')
    two.draw('a')
    one.draw('a', 'a')
    one.draw('a')
    expect(one.heard.at(-1)).toEqual({ drawn: [[5, { ...left(114), isLent: true }]] })
  })

  it('say at which moment they held their tokens, so that every worker names the same Reset [D45]', () => {
    const one = join()
    millis = frozen + 250
    one.draw('a')
    const [[, drawn]] = (one.heard.at(-1) as { drawn: [number, Drawn][] }).drawn as [[number, Drawn]]
    expect(drawn).toEqual({ admitted: true, tokens: 119, filledAt: frozen + 250 })
    expect(rateState(drawn).reset).toBe(String(frozen / 1000 + 2))
  })

  it('are asked back when another worker draws, which waits, and go on with what is left in them', () => {
    const [one, two] = [join(), join()]
    lend(one, 'a')
    two.draw('a', 'b')
    expect(two.heard).toEqual([{ drawn: [[2, left(119)]] }])
    one.draw('a')
    expect(one.heard).toEqual([{ recall: ['a'] }])
    one.ask({ returned: [bucket('a', 50)] })
    expect(two.heard.at(-1)).toEqual({ drawn: [[1, left(49)]] })
    expect(one.heard.at(-1)).toEqual({ drawn: [[4, left(48)]] })
  })

  it('are lent at once to the worker that returned them full, and to no other', () => {
    const [one, two] = [join(), join()]
    for (const key of ['a', 'b']) {
      lend(one, key)
      one.ask({ returned: [bucket(key, 120)] })
    }
    one.draw('a')
    two.draw('b')
    expect(one.heard).toEqual([{ drawn: [[7, { ...left(119), isLent: true }]] }])
    expect(two.heard).toEqual([{ drawn: [[1, left(119)]] }])
  })

  it('are for the worker to decide that has them and did not know it yet', () => {
    const one = join()
    lend(one, 'a')
    one.draw('a')
    expect(one.heard).toEqual([{ drawn: [[4, 'yours']] }])
  })

  it('are taken back from a worker that is gone, with what it last said was left in them', () => {
    const [one, two] = [join(), join()]
    lend(one, 'a')
    lend(one, 'a2')
    one.ask({ spent: [bucket('a', 70), bucket('nobody lent this', 1)] })
    two.draw('a')
    one.close()
    two.draw('a2', 'nobody lent this')
    expect(two.heard).toEqual([
      { drawn: [[1, left(69)]] },
      {
        drawn: [
          [2, left(116)],
          [3, left(119)],
        ],
      },
    ])
  })

  it('are returned by nobody but the worker that has them', () => {
    const [one, two] = [join(), join()]
    lend(one, 'a')
    two.ask({ returned: [bucket('a', 1)], spent: [bucket('a', 1)] })
    one.close()
    two.draw('a')
    expect(two.heard).toEqual([{ drawn: [[1, left(116)]] }])
  })

  it('leave with the first who asks; meanwhile all others wait, and then hear that they have left', () => {
    const [one, two, three] = [join(), join(), join()]
    one.draw('a')
    two.ask({ leave: true })
    expect(two.heard).toEqual([{ held: [bucket('a', 119)] }])
    one.draw('a')
    three.ask({ leave: true })
    two.draw('a', 'b')
    expect([one.heard.length, two.heard.length, three.heard.length]).toEqual([1, 1, 0])
    two.ask({ left: true })
    expect(one.heard.at(-1)).toEqual({ drawn: [[2, null]] })
    expect(two.heard.at(-1)).toEqual({
      drawn: [
        [1, null],
        [2, null],
      ],
    })
    expect(three.heard).toEqual([{ haveLeft: true }])
    three.draw('a')
    expect(three.heard.at(-1)).toEqual({ drawn: [[1, null]] })
  })

  it('leave once all that were lent are back, also from one that is gone', () => {
    const [one, two, three] = [join(), join(), join()]
    lend(one, 'a')
    lend(two, 'b')
    three.ask({ leave: true })
    expect([one.heard, two.heard, three.heard]).toEqual([[{ recall: ['a'] }], [{ recall: ['b'] }], []])
    one.ask({ returned: [bucket('a', 3)] })
    expect(three.heard).toEqual([])
    two.close()
    expect(three.heard).toEqual([{ held: [bucket('a', 3), bucket('b', 117)] }])
  })

  it('have left too when the one that took them is gone, and nobody waits for it', () => {
    const [one, two] = [join(), join()]
    two.ask({ leave: true })
    one.draw('a')
    two.close()
    expect(one.heard).toEqual([{ drawn: [[1, null]] }])
    expect(two.heard).toHaveLength(1)
  })

  it('stay when one that took nothing is gone, and it is told nothing any more', () => {
    const [one, two] = [join(), join()]
    two.draw('a')
    two.close()
    one.draw('a')
    expect(one.heard).toEqual([{ drawn: [[1, left(118)]] }])
    expect(two.heard).toHaveLength(1)
  })
})

type Hear = Parameters<Supervisor['onHeard']>[0]

/** Messages arrive when they are delivered, one at a time and in their order, as over a line between processes. */
class Post {
  readonly line = new Line()
  readonly #up: unknown[] = []
  readonly #down: unknown[] = []
  readonly home
  #hear: Hear = () => undefined

  constructor() {
    this.line.send = (message) => void this.#down.push(message)
    this.home = familyHome(clock, {
      say: (said) => void this.#up.push(said),
      onHeard: (hear) => void (this.#hear = hear),
    })
  }

  get isGone(): boolean {
    return !this.line.isOpen
  }

  deliver(way: 'up' | 'down'): boolean {
    if (this.isGone) return false
    const from = way === 'up' ? this.#up : this.#down
    if (from.length === 0) return false
    const message = JSON.parse(JSON.stringify(from.shift())) as Parameters<Hear>[0]
    if (way === 'up') this.line.ask(message)
    else this.#hear(message)
    return true
  }
}

const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('Workers of a family', () => {
  let posts: Post[]
  const start = (count: number): void => {
    const buckets = new FamilyBuckets(clock)
    posts = Array.from({ length: count }, () => new Post())
    for (const { line } of posts) buckets.serve(line as unknown as Worker)
  }
  async function deliverAll(): Promise<void> {
    do await turnOfTheLoop()
    while (posts.flatMap((post) => [post.deliver('up'), post.deliver('down')]).includes(true))
  }
  async function drawOnce(post: Post, key: string): Promise<Drawn | null> {
    const drawn = post.home.draw(key)
    await deliverAll()
    return drawn
  }

  it('decide by themselves once they have a bucket, and not any more once another one draws', async () => {
    start(2)
    const [one, two] = posts as [Post, Post]
    for (const tokens of [119, 118, 117]) expect(await drawOnce(one, 'a')).toMatchObject(left(tokens))
    expect(one.home.draw('a')).toEqual(left(116))
    expect(await drawOnce(two, 'a')).toEqual(left(115))
    expect(one.home.draw('a')).toBeInstanceOf(Promise)
    await deliverAll()
  })

  it('return a bucket that has filled up', async () => {
    start(2)
    const [one, two] = posts as [Post, Post]
    for (const key of ['a', 'b']) for (let count = 0; count < 3; count++) await drawOnce(one, key)
    expect(one.home.draw('b')).toEqual(left(116))
    millis += 70_000
    expect(one.home.draw('b')).toEqual({ ...left(119), filledAt: millis })
    await deliverAll()
    expect(one.home.draw('a')).toBeInstanceOf(Promise)
    expect(await drawOnce(two, 'a')).toEqual({ ...left(118), filledAt: millis })
  })

  it('tell their supervisor soon what they drew, which outlives them', async () => {
    start(2)
    const [one, two] = posts as [Post, Post]
    for (let count = 0; count < 3; count++) await drawOnce(one, 'a')
    for (let tokens = 116; tokens > 16; tokens--) expect(one.home.draw('a')).toEqual(left(tokens))
    await new Promise((resolve) => setTimeout(resolve, 100))
    await deliverAll()
    one.line.close()
    expect(await drawOnce(two, 'a')).toEqual(left(16))
  })

  const step = fc.oneof(
    fc.record({
      do: fc.constant('draw' as const),
      worker: fc.nat(2),
      key: fc.constantFrom('a', 'b'),
      times: fc.nat(9),
    }),
    fc.record({ do: fc.constantFrom('up' as const, 'down' as const), worker: fc.nat(2) }),
  )

  it('admit 120 draws and not one more, in whatever order messages arrive, and whoever takes the buckets away', async () => {
    const steps = fc.array(step, { minLength: 40, maxLength: 200, size: 'max' })
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(200), fc.nat(2), async (given, leavesAfter, taker) => {
        start(3)
        const elsewhere = memoryLimiter(clock)
        const asked: { key: string; drawn: Promise<Drawn> }[] = []
        const leaving: Promise<void>[] = []
        for (const [index, one] of given.entries()) {
          const post = posts[one.worker]!
          if (one.do === 'draw')
            for (let count = 0; count < one.times; count++) {
              const drawn = Promise.resolve(post.home.draw(one.key))
              asked.push({ key: one.key, drawn: drawn.then((outcome) => outcome ?? elsewhere.draw(one.key)) })
            }
          else post.deliver(one.do)
          if (index === leavesAfter)
            leaving.push(posts[taker]!.home.leave(async (held) => held.forEach((each) => elsewhere.put(each))))
          if (index % 3 === 0) await turnOfTheLoop()
        }
        await deliverAll()
        await Promise.all(leaving)
        const outcomes = await Promise.all(asked.map(async ({ key, drawn }) => ({ key, ...(await drawn) })))
        for (const key of ['a', 'b']) {
          const own = outcomes.filter((outcome) => outcome.key === key)
          expect(own.filter(({ admitted }) => admitted)).toHaveLength(Math.min(own.length, burst))
        }
      }),
      { numRuns: 200 },
    )
  })

  it('hear of every draw, in whatever order messages arrive, and whoever is killed and when', async () => {
    const kill = fc.record({ do: fc.constant('kill' as const), worker: fc.nat(1) })
    const leave = fc.record({ do: fc.constant('leave' as const), worker: fc.nat(2) })
    const steps = fc.array(
      fc.oneof({ weight: 60, arbitrary: step }, { weight: 1, arbitrary: kill }, { weight: 1, arbitrary: leave }),
      { minLength: 40, maxLength: 200, size: 'max' },
    )
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        start(3)
        const asked: { post: Post; isAnswered: boolean }[] = []
        for (const [index, one] of given.entries()) {
          const post = posts[one.worker]!
          if (post.isGone) continue
          if (one.do === 'draw')
            for (let count = 0; count < one.times; count++) {
              const draw = { post, isAnswered: false }
              asked.push(draw)
              void Promise.resolve(post.home.draw(one.key)).then(() => (draw.isAnswered = true))
            }
          else if (one.do === 'kill') post.line.close()
          else if (one.do === 'leave') void post.home.leave(async () => undefined)
          else post.deliver(one.do)
          if (index % 3 === 0) await turnOfTheLoop()
        }
        await deliverAll()
        expect(asked.filter(({ post, isAnswered }) => !post.isGone && !isAnswered)).toEqual([])
      }),
      { numRuns: 200 },
    )
  })
})
