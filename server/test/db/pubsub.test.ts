import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Connection, createDatabase } from '../../src/db/create-database.ts'
import { PubSub } from '../../src/db/pubsub.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'
import { eventually } from '../support/tracking.ts'

describe('events between two processes', () => {
  let database: TestDatabase
  let connections: Connection[]
  let pubsubs: PubSub[]
  const received: [string[], string[]] = [[], []]

  beforeAll(async () => {
    database = await cloneDatabase()
    connections = [1, 2].map(() => createDatabase({ url: database.url, poolSize: 1 }))
    pubsubs = connections.map((one) => new PubSub(one, () => performance.now()))
    for (const [index, pubsub] of pubsubs.entries()) {
      for (const topic of ['readers', 'moved', 'last'])
        pubsub.on(topic, (payload) => received[index as 0 | 1].push(`${topic} ${payload}`))
      await pubsub.start(() => undefined)
    }
  })
  afterAll(async () => {
    for (const pubsub of pubsubs) await pubsub.stop()
    for (const one of connections) await one.close()
    await database.drop()
  })

  it('are received once by each process, and by the publisher first', async () => {
    const [sender] = pubsubs
    const sending = sender!.publish('readers', '1,2')
    expect(received).toEqual([['readers 1,2'], []])
    await sending
    await sender!.publish('moved', '')
    await sender!.publish('moved', 'a b:c\nd')
    await pubsubs[1]!.publish('last', '')
    const events = ['readers 1,2', 'moved ', 'moved a b:c\nd', 'last ']
    await eventually(async () => expect(received[0]).toContain('last '))
    await eventually(async () => expect(received[1].toSorted()).toEqual(events.toSorted()))
    expect(received[0]).toEqual(events)
  })

  it('are known to be missed by a process that no longer receives its own heartbeat', async () => {
    let millis = 0
    const connection = createDatabase({ url: database.url, poolSize: 1 })
    const pubsub = new PubSub(connection, () => millis)
    expect(pubsub.isConnected()).toBe(false)
    await pubsub.start(() => undefined)
    millis += 3000
    expect(pubsub.isConnected()).toBe(false)
    await eventually(async () => expect(pubsub.isConnected()).toBe(true))
    await pubsub.stop()
    await connection.close()
  })

  it('have been handled by every process when publishAndWait resolves', async () => {
    const [sender, other] = pubsubs
    let hasActed = false
    other!.on('slow', async (payload) => {
      await sleep(200)
      hasActed = payload === 'x y'
    })
    await sender!.publishAndWait('slow', 'x y')
    expect(hasActed).toBe(true)
  })

  it('can be published by a process that does not listen itself, such as a command', async () => {
    let hasActed = false
    pubsubs[0]!.on('command', () => void (hasActed = true))
    const connection = createDatabase({ url: database.url, poolSize: 1 })
    await new PubSub(connection, () => performance.now()).publishAndWait('command', '')
    expect(hasActed).toBe(true)
    await connection.close()
  })

  it('do not wait for a process that has left, and wait for a hung process only until its cache has expired', async () => {
    const connection = createDatabase({ url: database.url, poolSize: 1 })
    const left = new PubSub(connection, () => performance.now())
    await left.start(() => undefined)
    await left.stop()
    await connection.close()
    const quick = performance.now()
    await pubsubs[0]!.publishAndWait('anything', '')
    expect(performance.now() - quick).toBeLessThan(2500)

    const hung = createDatabase({ url: database.url, poolSize: 1 })
    await hung.listen(
      'lastseen_pubsub',
      () => undefined,
      () => undefined,
    )
    const slow = performance.now()
    await pubsubs[0]!.publishAndWait('anything', '')
    expect(performance.now() - slow).toBeGreaterThanOrEqual(2990)
    await hung.close()
  })
})
