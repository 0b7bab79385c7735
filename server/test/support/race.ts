import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import { type TestApp, TestOrg, startApp, useApp } from './app.ts'
import { type AssetJson } from './assets.ts'
import type { Client, Reply } from './client.ts'
import { create, useDatabase } from './master-data.ts'
import { raceRounds } from './rounds.ts'

export const rounds = raceRounds(100)

/** The timeout of a whole race test, far more than it needs on an idle machine. */
export const raceTimeoutMs = 240_000

/** One organization with a client on each of two servers. */
class RaceOrg {
  readonly clients: readonly [Client, Client]

  constructor(processes: readonly [TestApp, TestApp], org: TestOrg) {
    const [one, other] = processes
    this.clients = [new TestOrg(one, org.orgId, org.name).full, new TestOrg(other, org.orgId, org.name).full]
  }

  /** Sends all requests at the same moment, alternating between the two servers. */
  sendConcurrently(count: number, act: (principal: Client, index: number) => Promise<Reply>): Promise<Reply[]> {
    return Promise.all(Array.from({ length: count }, (_, index) => act(this.clients[index % 2]!, index)))
  }

  create(body: object = {}): Promise<AssetJson> {
    return create(this.clients[0], 'assets', { name: 'Pallet jack', ...body }) as Promise<AssetJson>
  }
}

export interface Race {
  newOrg(): Promise<RaceOrg>
  /** Stops both servers, so that PostgreSQL has flushed its statistics, and returns the number of deadlocks. */
  deadlocks(): Promise<number>
}

export function useRace(): Race {
  const context = useApp()
  const database = useDatabase(context)
  let processes: [TestApp, TestApp] | undefined
  const start = (): Promise<TestApp> => startApp({ sharesDatabaseWith: context.app })
  const stop = async (): Promise<void> => {
    const running = processes ?? []
    processes = undefined
    for (const process of running) await process.stop()
  }
  beforeAll(async () => {
    processes = [await start(), await start()]
  })
  afterAll(stop)
  return {
    newOrg: async () => new RaceOrg(processes!, await context.app.newOrg()),
    async deadlocks() {
      await stop()
      await delay(300)
      const [row] = await database.sql<{ deadlocks: number }[]>`
        select deadlocks from pg_stat_database where datname = current_database()`
      return row!.deadlocks
    },
  }
}

/** Counts the responses by status. */
export function countStatuses(replies: readonly Reply[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

export function expectErrorType(replies: readonly Reply[], status: number, type: string): void {
  for (const reply of replies) if (reply.status === status) expect(reply.json.error.type).toBe(type)
}
