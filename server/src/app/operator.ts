import type { Config } from '../config/config.ts'
import { findOrganization, findOrganizationsByName } from '../organizations/organizations.sql.ts'
import { type AppContext, openAppContext, openDatabase, prepareDatabase, requireSchema } from './context.ts'

/** The command cannot be executed. Reported without a stack trace. */
export class OperatorError extends Error {}

/** The command line itself is invalid, independently of the database. */
export class UsageError extends OperatorError {}

/** The fields that a command reports about one record. */
export type Facts = Record<string, unknown>

export interface AppContextAccess {
  config: Config
  progress: (line: string) => void
  /** Whether to create the database or its schema if it does not exist. */
  isInit: boolean
}

/** Runs the work with or without a running server. With one, it shares the server's embedded database. */
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

/** Finds an organization by its name, or by its id. An id is needed if several organizations have the name. */
export async function organizationNamed(
  context: AppContext,
  nameOrId: string,
): Promise<{ orgId: number; name: string }> {
  const matches = await findOrganizationsByName(context.db.read, nameOrId)
  if (matches.length > 1)
    throw new OperatorError(
      `Several organizations are called ${JSON.stringify(nameOrId)}: name one by its id, ${matches.map((one) => one.orgId).join(' or ')}`,
    )
  if (matches[0] !== undefined) return matches[0]
  const byId = /^[1-9]\d{0,15}$/.test(nameOrId) ? await findOrganization(context.db.read, Number(nameOrId)) : null
  if (byId === null) throw new OperatorError(`There is no organization called ${JSON.stringify(nameOrId)}`)
  return byId
}
