import { openSession } from './session.ts'
import { parseHosts } from './failover/primary-discovery.ts'
import { type ConnectError, connectionErrorReason } from './connection-errors.ts'

/** Host, port and database as the address names them: no user, no password. */
function placeOf(url: string): string {
  const [place = ''] = url.slice(url.indexOf('://') + 3).split('?')
  return place.slice(place.lastIndexOf('@') + 1)
}

/** Says in plain words why an outside database cannot be used. */
export async function checkConnection(url: string): Promise<void> {
  const unusable = (error: unknown): Error =>
    new Error(
      `The database ${placeOf(url)} (DATABASE_URL) cannot be used: ${connectionErrorReason(error as ConnectError)}`,
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
