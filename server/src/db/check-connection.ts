import { openSession } from './session.ts'
import { parseHosts } from './failover/primary-discovery.ts'
import { type ConnectError, connectionErrorReason } from './connection-errors.ts'

/** Host, port and database of the URL, without user and password. */
function redactUrl(url: string): string {
  const [authorityAndPath = ''] = url.slice(url.indexOf('://') + 3).split('?')
  return authorityAndPath.slice(authorityAndPath.lastIndexOf('@') + 1)
}

/** Throws an error with a readable reason when the external database cannot be used. */
export async function checkConnection(url: string): Promise<void> {
  const unusable = (error: unknown): Error =>
    new Error(
      `The database ${redactUrl(url)} (DATABASE_URL) cannot be used: ${connectionErrorReason(error as ConnectError)}`,
    )
  try {
    await parseHosts(url).find()
  } catch (error) {
    throw unusable(error)
  }
  const session = await openSession(url).catch((error: unknown) => {
    throw unusable(error)
  })
  await session.end()
}
