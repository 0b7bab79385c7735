import { afterAll, beforeAll, expect } from 'vitest'
import { type AppContext, openAppContext } from '../../src/app/context.ts'
import { readConfig } from '../../src/config/config.ts'
import { type TestDatabase, cloneDatabase } from './database.ts'
import { watchStatements } from './statements.ts'

/** Opens an AppContext, as operator commands use it, on the test file's own database and without a server. */
export function useAppContext(): { context: AppContext } {
  const used = {} as { context: AppContext }
  let database: TestDatabase
  let watch: Awaited<ReturnType<typeof watchStatements>>
  beforeAll(async () => {
    database = await cloneDatabase()
    watch = await watchStatements(database.url)
    const config = readConfig({ DATABASE_URL: database.url })
    used.context = await openAppContext({
      config,
      url: database.url,
      onStatement: (statement) => watch.onStatement(statement),
    })
  })
  afterAll(async () => {
    await used.context.close()
    await database.drop()
    watch.save()
    expect(watch.violations, 'statements without tenant isolation').toEqual([])
  })
  return used
}
