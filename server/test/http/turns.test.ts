import { describe, expect, it } from 'vitest'
import { Gate, boundless } from '../../src/http/gate.ts'
import { Turns } from '../../src/http/turns.ts'

const stays = (): boolean => false
const loopTurn = (): Promise<void> => new Promise((resume) => setImmediate(resume))

/** Two ways in that share turns, on a clock of their own. One thing at once; wanting up to two is not much. */
class Ways {
  nowMs = 0
  readonly begun: string[] = []
  readonly rests: { ms: number; end: () => void }[] = []
  readonly turns: Turns
  readonly api: Gate
  readonly ingest: Gate

  constructor(burstMs = 0) {
    this.turns = new Turns(
      { atOnce: 1, calm: 2, burstMs },
      () => this.nowMs,
      (end, ms) => this.rests.push({ ms, end }),
    )
    this.api = new Gate(boundless, this.turns)
    this.ingest = new Gate({ ...boundless, isLarge: true }, this.turns)
  }

  ask(way: 'api' | 'ingest', org: number | null, name: string): void {
    const admitted = this[way].enter(org, stays)
    if (admitted === undefined) this.begun.push(name)
    else void admitted.then(() => this.begun.push(name))
  }

  flood(org: number | null, count: number, name = 'a'): void {
    for (let index = 0; index < count; index++) this.ask('api', org, `${name}${index}`)
  }

  async leave(way: 'api' | 'ingest', org: number | null): Promise<void> {
    this[way].leave(org)
    await loopTurn()
  }
}

describe('Turns', () => {
  it('hold up nobody who has the process to himself', () => {
    const ways = new Ways()
    ways.flood(1, 5)
    expect(ways.begun).toEqual(['a0', 'a1', 'a2', 'a3', 'a4'])
  })

  it('let one that wants much begin one thing after the other, in its order, while another organization asks', async () => {
    const ways = new Ways()
    ways.ask('api', 2, 'quiet')
    ways.flood(1, 6)
    expect(ways.begun).toEqual(['quiet', 'a0', 'a1'])
    await ways.leave('api', 1)
    expect(ways.begun).toEqual(['quiet', 'a0', 'a1'])
    await ways.leave('api', 1)
    expect(ways.begun).toEqual(['quiet', 'a0', 'a1', 'a2'])
    await ways.leave('api', 1)
    expect(ways.begun.slice(4)).toEqual(['a3'])
    // Two are left, and two are not much.
    await ways.leave('api', 1)
    expect(ways.begun.slice(5)).toEqual(['a4', 'a5'])
    for (const org of [1, 1, 2]) await ways.leave('api', org)
    expect([ways.api.running, ways.api.waiting]).toEqual([0, 0])
  })

  it('never hold up one that wants little, however much another wants', () => {
    const ways = new Ways()
    ways.ask('api', 3, 'somebody')
    ways.flood(1, 500)
    ways.ask('api', 2, 'quiet')
    ways.ask('ingest', 2, 'quiet too')
    expect(ways.begun).toEqual(['somebody', 'a0', 'a1', 'quiet', 'quiet too'])
  })

  it('do not hold up one for whom things have piled up while another wants many times as much', () => {
    const ways = new Ways()
    ways.ask('api', 3, 'somebody')
    ways.flood(1, 100)
    ways.flood(2, 8, 'b')
    expect(ways.begun.slice(3)).toEqual(['b0', 'b1', 'b2', 'b3', 'b4', 'b5', 'b6', 'b7'])
  })

  it('let it rest five times as long as what was done took, whatever way in it came', async () => {
    const ways = new Ways()
    ways.ask('api', 2, 'quiet')
    ways.ask('ingest', 1, 'reads')
    ways.flood(1, 6)
    // Two of them at once for eight milliseconds, then one for three more.
    ways.nowMs = 8
    await ways.leave('ingest', 1)
    ways.nowMs = 11
    await ways.leave('api', 1)
    expect(ways.rests.map(({ ms }) => ms)).toEqual([80, 15])
    expect(ways.begun).toEqual(['quiet', 'reads', 'a0'])
    ways.nowMs = 26
    ways.rests[1]!.end()
    await loopTurn()
    expect(ways.begun).toHaveLength(3)
    ways.nowMs = 88
    ways.rests[0]!.end()
    await loopTurn()
    expect(ways.begun.slice(3)).toEqual(['a1'])
  })

  it('never let it rest for long, nor for what it did when nobody had to wait for it', async () => {
    const ways = new Ways()
    ways.flood(1, 2)
    ways.nowMs = 3_600_000
    ways.ask('api', 1, 'more')
    await ways.leave('api', 1)
    ways.ask('api', 2, 'quiet')
    ways.flood(1, 4, 'b')
    ways.nowMs += 2
    await ways.leave('api', 1)
    await ways.leave('api', 1)
    expect(ways.rests.map(({ ms }) => ms)).toEqual([20])
    ways.nowMs += 500
    ways.ask('api', 2, 'quiet')
    ways.rests[0]!.end()
    await loopTurn()
    ways.nowMs += 500
    ways.flood(1, 4, 'c')
    await ways.leave('api', 1)
    expect(ways.rests.map(({ ms }) => ms)).toEqual([20, 100])
  })

  it('let one that wants much for a moment have a few things under way, without a rest', async () => {
    const ways = new Ways(500)
    ways.ask('api', 2, 'quiet')
    ways.flood(1, 8)
    expect(ways.begun).toEqual(['quiet', 'a0', 'a1'])
    ways.nowMs = 499
    await ways.leave('api', 1)
    expect([ways.begun.slice(3), ways.rests]).toEqual([['a2'], []])
    // It goes on wanting much: one thing at once, and rests.
    ways.nowMs = 500
    await ways.leave('api', 1)
    expect([ways.begun.slice(4), ways.rests.map(({ ms }) => ms)]).toEqual([[], [10]])
    await ways.leave('api', 1)
    expect(ways.begun.slice(4)).toEqual([])
    ways.rests[0]!.end()
    await loopTurn()
    expect(ways.begun.slice(4)).toEqual(['a3'])
  })

  it('begin a new moment once it has wanted little', async () => {
    const ways = new Ways(500)
    ways.flood(1, 3)
    await ways.leave('api', 1)
    ways.nowMs = 10_000
    ways.ask('api', 2, 'quiet')
    ways.flood(1, 4, 'b')
    await ways.leave('api', 1)
    expect(ways.begun.slice(4)).toEqual(['b0'])
    await ways.leave('api', 1)
    expect([ways.begun.slice(5), ways.rests]).toEqual([['b1'], []])
  })

  it('let one rest after something large in any moment', async () => {
    const ways = new Ways(500)
    ways.ask('api', 2, 'quiet')
    for (const name of ['r0', 'r1', 'r2', 'r3']) ways.ask('ingest', 1, name)
    ways.nowMs = 8
    await ways.leave('ingest', 1)
    expect([ways.begun, ways.rests.map(({ ms }) => ms)]).toEqual([['quiet', 'r0', 'r1'], [80]])
  })

  it('count something large as the many things it is', async () => {
    const ways = new Ways()
    ways.ask('api', 2, 'quiet')
    ways.ask('ingest', 1, 'r0')
    const want = ways.turns.arrive(1, 0, 2)
    ways.ask('api', 1, 'a0')
    expect(ways.begun).toEqual(['quiet', 'r0'])
    ways.nowMs = 10
    await ways.leave('ingest', 1)
    expect([ways.begun.slice(2), ways.rests.map(({ ms }) => ms)]).toEqual([[], [50]])
    ways.turns.depart(want, 2)
    ways.rests[0]!.end()
    await loopTurn()
    expect(ways.begun.slice(2)).toEqual(['a0'])
  })

  it('let the ways in take turns after a rest too', async () => {
    const ways = new Ways()
    ways.ask('api', 2, 'quiet')
    ways.flood(1, 5)
    for (const name of ['r0', 'r1', 'r2']) ways.ask('ingest', 1, name)
    const done = async (way: 'api' | 'ingest'): Promise<void> => {
      ways.nowMs += 5
      await ways.leave(way, 1)
      ways.rests.shift()?.end()
      await loopTurn()
    }
    await done('api')
    for (const way of ['api', 'ingest', 'api', 'ingest'] as const) await done(way)
    expect(ways.begun.slice(3)).toEqual(['r0', 'a2', 'r1', 'a3'])
  })

  it('add up rests that would be too short', async () => {
    const ways = new Ways()
    ways.ask('api', 2, 'quiet')
    ways.flood(1, 6)
    await ways.leave('api', 1)
    ways.nowMs = 0.125
    await ways.leave('api', 1)
    expect(ways.begun.slice(3)).toEqual(['a2'])
    ways.nowMs = 0.25
    await ways.leave('api', 1)
    expect(ways.rests.map(({ ms }) => ms)).toEqual([1.25])
    expect(ways.begun).toHaveLength(4)
  })

  it('let nobody rest who has the process to himself, nor one that wants little', async () => {
    const ways = new Ways()
    ways.flood(1, 5)
    ways.nowMs = 10
    await ways.leave('api', 1)
    ways.ask('api', 2, 'quiet')
    ways.flood(2, 1, 'b')
    ways.nowMs = 20
    await ways.leave('api', 2)
    expect(ways.rests).toEqual([])
  })

  it('hold up nobody any longer a second after the others have gone', async () => {
    const ways = new Ways()
    ways.ask('api', 2, 'quiet')
    await ways.leave('api', 2)
    ways.flood(1, 6)
    ways.nowMs = 99
    await ways.leave('api', 1)
    expect(ways.begun).toHaveLength(3)
    ways.nowMs = 1000
    await ways.leave('api', 1)
    expect(ways.begun).toEqual(['quiet', 'a0', 'a1', 'a2', 'a3', 'a4', 'a5'])
  })

  it('count all ways in together, and who waits in another way in comes next', async () => {
    const ways = new Ways()
    ways.ask('api', 2, 'quiet')
    ways.flood(1, 5)
    ways.ask('ingest', 1, 'reads')
    await ways.leave('api', 1)
    await ways.leave('api', 1)
    expect(ways.begun.slice(3)).toEqual(['reads'])
    await ways.leave('ingest', 1)
    expect(ways.begun.slice(4)).toEqual(['a2'])
  })

  it('give an organization whose things are slow a place more every tenth of a second', async () => {
    const ways = new Ways()
    ways.ask('api', 2, 'quiet')
    ways.flood(1, 6)
    ways.nowMs = 100
    await expect.poll(() => ways.begun.length, { timeout: 5000 }).toBe(4)
    ways.nowMs = 199
    ways.ask('api', 2, 'quiet again')
    expect(ways.begun.slice(3)).toEqual(['a2', 'quiet again'])
    ways.nowMs = 200
    await expect.poll(() => ways.begun.length, { timeout: 5000 }).toBe(6)
    expect(ways.begun.at(-1)).toBe('a3')
  })

  it('let nobody pass who comes while another of the same organization is about to begin', async () => {
    const ways = new Ways()
    ways.ask('api', 2, 'quiet')
    ways.flood(1, 3)
    ways.api.leave(1)
    ways.api.leave(1)
    ways.ask('api', 1, 'late')
    expect(ways.begun).toEqual(['quiet', 'a0', 'a1'])
    await loopTurn()
    expect(ways.begun.slice(3)).toEqual(['a2'])
    await ways.leave('api', 1)
    expect(ways.begun.slice(4)).toEqual(['late'])
  })

  it('are not taken by those who have not said who they are', () => {
    const ways = new Ways()
    ways.ask('api', 2, 'quiet')
    ways.flood(null, 5)
    expect(ways.begun).toEqual(['quiet', 'a0', 'a1', 'a2', 'a3', 'a4'])
  })
})
