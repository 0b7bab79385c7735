import { EventEmitter } from 'node:events'
import type { Worker } from 'node:cluster'
import { beforeEach, describe, expect, it } from 'vitest'
import { FamilyBuckets } from '../../src/app/family-buckets.ts'

/** The line to a worker, and what came over it. What a real one does with it is tested with real workers. */
class Line extends EventEmitter {
  heard: unknown[] = []
  isOpen = true
  isConnected(): boolean {
    return this.isOpen
  }
  send(message: unknown): void {
    this.heard.push(message)
  }
  ask(message: unknown): void {
    this.emit('message', message)
  }
}

const drawn = (...tokens: number[]) => ({ drawn: tokens.map((left) => ({ admitted: true, tokens: left })) })

describe('Buckets of a family', () => {
  let buckets: FamilyBuckets
  const join = (): Line => {
    const line = new Line()
    buckets.serve(line as unknown as Worker)
    return line
  }

  beforeEach(() => {
    buckets = new FamilyBuckets(() => 1_700_000_000_000)
  })

  it('are one for all workers, and answered in the order of the questions', () => {
    const [one, two] = [join(), join()]
    one.ask({ draw: ['a', 'b', 'a'] })
    two.ask({ draw: ['a'] })
    one.ask({ draw: ['b'] })
    expect(one.heard).toEqual([drawn(119, 119, 118), drawn(118)])
    expect(two.heard).toEqual([drawn(117)])
  })

  it('are empty after 120 draws, whoever drew', () => {
    const [one, two] = [join(), join()]
    for (let count = 0; count < 60; count++) for (const line of [one, two]) line.ask({ draw: ['a'] })
    one.ask({ draw: ['a'] })
    expect(one.heard.at(-1)).toEqual({ drawn: [{ admitted: false, tokens: 0 }] })
  })

  it('leave with the first who asks; meanwhile all others wait, and then hear that they have left', () => {
    const [one, two, three] = [join(), join(), join()]
    one.ask({ draw: ['a'] })
    two.ask({ leave: true })
    expect(two.heard).toEqual([{ held: [{ key: 'a', tokens: 119, filledAt: 1_700_000_000_000 }] }])
    one.ask({ draw: ['a'] })
    three.ask({ leave: true })
    two.ask({ draw: ['a', 'b'] })
    expect([one.heard.length, two.heard.length, three.heard.length]).toEqual([1, 1, 0])
    two.ask({ left: true })
    expect(one.heard.at(-1)).toEqual({ drawn: [null] })
    expect(two.heard.at(-1)).toEqual({ drawn: [null, null] })
    expect(three.heard).toEqual([{ haveLeft: true }])
    three.ask({ draw: ['a'] })
    expect(three.heard.at(-1)).toEqual({ drawn: [null] })
  })

  it('have left too when the one that took them is gone, and nobody waits for it', () => {
    const [one, two] = [join(), join()]
    two.ask({ leave: true })
    one.ask({ draw: ['a'] })
    two.isOpen = false
    two.emit('disconnect')
    expect(one.heard).toEqual([{ drawn: [null] }])
    expect(two.heard).toHaveLength(1)
  })

  it('stay when one that took nothing is gone, and it is told nothing any more', () => {
    const [one, two] = [join(), join()]
    two.ask({ draw: ['a'] })
    two.isOpen = false
    two.emit('disconnect')
    one.ask({ draw: ['a'] })
    expect(one.heard).toEqual([drawn(118)])
  })
})
