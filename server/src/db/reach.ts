import { openPool } from './connect.ts'

interface ConnectError {
  code?: string
  message: string
  errors?: ConnectError[]
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'nothing answers there',
  ENOTFOUND: 'this host name is not known',
  EAI_AGAIN: 'this host name cannot be looked up now',
  CONNECT_TIMEOUT: 'it did not answer within 10 seconds',
}

const reasonOf = ({ code, message, errors }: ConnectError): string =>
  reasons[code ?? ''] ?? (message || errors?.map(reasonOf).join('; ') || code || 'the connection failed')

/** Host, port and database as the address names them: no user, no password. */
function placeOf(url: string): string {
  const [place = ''] = url.slice(url.indexOf('://') + 3).split('?')
  return place.slice(place.lastIndexOf('@') + 1)
}

/** Says in plain words why an outside database cannot be used. */
export async function checkReachable(url: string): Promise<void> {
  const pool = openPool(url, 1)
  try {
    await pool`select 1`
  } catch (error) {
    throw new Error(`The database ${placeOf(url)} (DATABASE_URL) cannot be used: ${reasonOf(error as ConnectError)}`)
  } finally {
    await pool.end({ timeout: 1 })
  }
}
