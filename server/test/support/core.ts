import { afterAll, beforeAll } from 'vitest'
import { type Core, openCore } from '../../src/app/core.ts'
import { readConfig } from '../../src/config/config.ts'
import { type TestDatabase, cloneDatabase } from './database.ts'

/** What the operator's commands work with, over a database of the file's own and without a server. */
export function useCore(): { core: Core } {
  const used = {} as { core: Core }
  let database: TestDatabase
  beforeAll(async () => {
    database = await cloneDatabase()
    used.core = await openCore({ config: readConfig({ DATABASE_URL: database.url }), url: database.url })
  })
  afterAll(async () => {
    await used.core.close()
    await database.drop()
  })
  return used
}
