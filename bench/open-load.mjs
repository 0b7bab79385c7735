import { atRandom, atTimes } from './arrivals.mjs'
import { Client } from './client.mjs'
import { median, spread } from './figures.mjs'
import { operations, toHttp } from './operations.mjs'

/** Connections that are taken and given back. Who finds none waits for one, and leaves when that takes too long. */
class Connections {
  #port
  #idle = []
  #waiting = []

  static async open(port, count) {
    const all = new Connections()
    all.#port = port
    all.#idle = await Promise.all(Array.from({ length: count }, () => Client.open(port)))
    return all
  }

  /** Undefined when none came free in time. */
  take(untilMs) {
    if (this.#idle.length > 0) return this.#idle.pop()
    return new Promise((resolve) => this.#waiting.push({ untilMs, resolve }))
  }

  give(client) {
    const now = performance.now()
    while (this.#waiting.length > 0) {
      const { untilMs, resolve } = this.#waiting.shift()
      if (now <= untilMs) return resolve(client)
      resolve(undefined)
    }
    this.#idle.push(client)
  }

  async replace() {
    this.give(await Client.open(this.#port))
  }

  close() {
    for (const client of this.#idle) client.close()
  }
}

/**
 * Requests at times fixed beforehand, however long the answers take; a latency counts from the time a request was due, so a
 * service that stalls cannot make its callers ask less. `operation` may be several that take turns. A caller waits `queueMs`
 * for a connection: callers who queued up behind each other would be late before they asked.
 */
export async function openRound({ sample, tokens, next }, random, run) {
  const { port, operation, perSecond, connections, warmMs, measureMs, windowMs = 500 } = run
  const { patienceMs = 10_000, queueMs = patienceMs } = run
  const asked = [operation].flat()
  const clients = await Connections.open(port, connections)
  const latencies = Object.fromEntries(asked.map((name) => [name, []]))
  const windows = []
  const failures = {}
  const fail = (why) => (failures[why] = (failures[why] ?? 0) + 1)
  let offered = 0
  let lastMs = 0
  await atTimes(atRandom({ perSecond, forMs: warmMs + measureMs }), async ({ index, time, dueAt }) => {
    const name = asked[index % asked.length]
    const isCounted = time >= warmMs
    if (isCounted) offered++
    const client = await clients.take(dueAt + queueMs)
    if (client === undefined) return isCounted && fail('given up')
    try {
      const status = await client.send(
        toHttp(operations[name].ask(sample, random), tokens[next.token++ % tokens.length]),
      )
      clients.give(client)
      if (!isCounted) return
      const answeredAt = performance.now()
      if (status < 200 || status > 299) return fail(status)
      if (answeredAt - dueAt > patienceMs) return fail('too late')
      latencies[name].push(answeredAt - dueAt)
      lastMs = Math.max(lastMs, answeredAt - dueAt + time - warmMs)
      ;(windows[Math.floor((time - warmMs) / windowMs)] ??= []).push(answeredAt - dueAt)
    } catch {
      fail('cut off')
      await clients.replace()
    }
  })
  clients.close()
  const all = Object.values(latencies).flat()
  return {
    offeredPerSecond: (offered / measureMs) * 1000,
    perSecond: (all.length / Math.max(measureMs, lastMs)) * 1000,
    ...spread(all),
    byOperation: Object.fromEntries(Object.entries(latencies).map(([name, list]) => [name, spread(list)])),
    windowMedians: Array.from(windows, (window) => (window === undefined ? Infinity : median(window))),
    failures,
  }
}
