import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Connection, connect } from '../../src/db/connect.ts'
import { Wake } from '../../src/db/wake.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'
import { eventually } from '../support/tracking.ts'

describe('news between two processes', () => {
  let database: TestDatabase
  let connections: Connection[]
  let wakes: Wake[]
  const heard: [string[], string[]] = [[], []]

  beforeAll(async () => {
    database = await cloneDatabase()
    connections = [1, 2].map(() => connect({ url: database.url, poolSize: 1 }))
    wakes = connections.map((one) => new Wake(one, () => performance.now()))
    for (const [index, wake] of wakes.entries()) {
      for (const topic of ['readers', 'moved', 'last'])
        wake.on(topic, (payload) => heard[index as 0 | 1].push(`${topic} ${payload}`))
      await wake.start(() => undefined)
    }
  })
  afterAll(async () => {
    for (const wake of wakes) await wake.stop()
    for (const one of connections) await one.close()
    await database.drop()
  })

  it('are heard once by each process, and by the sender before anybody else', async () => {
    const [sender] = wakes
    const sending = sender!.send('readers', '1,2')
    expect(heard).toEqual([['readers 1,2'], []])
    await sending
    await sender!.send('moved', '')
    await sender!.send('moved', 'a b:c\nd')
    await wakes[1]!.send('last', '')
    const news = ['readers 1,2', 'moved ', 'moved a b:c\nd', 'last ']
    await eventually(async () => expect(heard[0]).toContain('last '))
    await eventually(async () => expect(heard[1].toSorted()).toEqual(news.toSorted()))
    expect(heard[0]).toEqual(news)
  })

  it('are known to be missed by a process that hears its own heartbeat no more', async () => {
    let millis = 0
    const connection = connect({ url: database.url, poolSize: 1 })
    const wake = new Wake(connection, () => millis)
    expect(wake.isListening()).toBe(false)
    await wake.start(() => undefined)
    millis += 3000
    expect(wake.isListening()).toBe(false)
    await eventually(async () => expect(wake.isListening()).toBe(true))
    await wake.stop()
    await connection.close()
  })

  it('that are announced have been acted upon by every process when the announcement is over', async () => {
    const [sender, other] = wakes
    let hasActed = false
    other!.on('slow', async (payload) => {
      await sleep(200)
      hasActed = payload === 'x y'
    })
    await sender!.announce('slow', 'x y')
    expect(hasActed).toBe(true)
  })

  it('can be announced by a process that does not listen itself, such as a command', async () => {
    let hasActed = false
    wakes[0]!.on('command', () => void (hasActed = true))
    const connection = connect({ url: database.url, poolSize: 1 })
    await new Wake(connection, () => performance.now()).announce('command', '')
    expect(hasActed).toBe(true)
    await connection.close()
  })

  it('are not waited for by one that has left, and by a hung one only until it trusts its memory no more', async () => {
    const connection = connect({ url: database.url, poolSize: 1 })
    const left = new Wake(connection, () => performance.now())
    await left.start(() => undefined)
    await left.stop()
    await connection.close()
    const quick = performance.now()
    await wakes[0]!.announce('anything', '')
    expect(performance.now() - quick).toBeLessThan(2500)

    const hung = connect({ url: database.url, poolSize: 1 })
    await hung.listen(
      'lastseen_wake',
      () => undefined,
      () => undefined,
    )
    const slow = performance.now()
    await wakes[0]!.announce('anything', '')
    expect(performance.now() - slow).toBeGreaterThanOrEqual(2990)
    await hung.close()
  })
})
