import type { Config } from '../config/config.ts'
import { findOrganization, findOrganizationsByName } from '../organizations/organizations.sql.ts'
import { type AppContext, openAppContext, openDatabase, prepareDatabase, requireSchema } from './context.ts'

/** The operator asked for something that cannot be done; reported without a stack trace. */
export class OperatorError extends Error {}

/** The command line itself is wrong, whatever the database holds. */
export class UsageError extends OperatorError {}

/** What a command reports about one thing. */
export type Facts = Record<string, unknown>

export interface AppContextAccess {
  config: Config
  progress: (line: string) => void
  /** Create the database, or its schema, where there is none. */
  isInit: boolean
}

/** Runs the work beside a running server, whose embedded database it shares, or without one. */
export async function withAppContext<Result>(
  { config, progress, isInit }: AppContextAccess,
  work: (context: AppContext) => Promise<Result>,
): Promise<Result> {
  const database = await openDatabase(config, { progress, mayCreate: isInit })
  try {
    if (!isInit) await requireSchema(config, database.url)
    await prepareDatabase(config, database.url, progress)
    const context = await openAppContext({ config, url: database.url })
    try {
      return await work(context)
    } finally {
      await context.close()
    }
  } finally {
    await database.release()
  }
}

/** By name, or by id where several organizations share the name. */
export async function organizationNamed(context: AppContext, given: string): Promise<{ orgId: number; name: string }> {
  const found = await findOrganizationsByName(context.db.read, given)
  if (found.length > 1)
    throw new OperatorError(
      `Several organizations are called ${JSON.stringify(given)}: name one by its id, ${found.map((one) => one.orgId).join(' or ')}`,
    )
  if (found[0] !== undefined) return found[0]
  const byId = /^[1-9]\d{0,15}$/.test(given) ? await findOrganization(context.db.read, Number(given)) : null
  if (byId === null) throw new OperatorError(`There is no organization called ${JSON.stringify(given)}`)
  return byId
}
