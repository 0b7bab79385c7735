/** What the clients of a drill send. */
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '../bench/environment.mjs'
import { createOrganization } from '../bench/seed.mjs'

export const origin = ({ httpPort }) => `http://127.0.0.1:${httpPort}`
export const base = (service) => `${origin(service)}/api/v1`
export const ignore = () => null

export const json = (body, method = 'POST') => ({
  method,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
})

/** Exchanges the credential for an access token; throws unless the response is 200. */
export async function exchangeToken(origin, { client_id, client_secret }) {
  const body = { grant_type: 'client_credentials', client_id, client_secret }
  const response = await fetch(`${origin}/api/v1/oauth/token`, json(body))
  const { access_token: token } = await response.json()
  if (response.status !== 200) throw new Error(`a token exchange was answered with ${response.status}`)
  return token
}

/** The server rejected a request of the drill as invalid. */
class InvalidRequest extends Error {}

/** Sends a request to the API and returns the body of the response; throws if the request was invalid. */
export async function call(service, path, token, options = {}) {
  const headers = { ...(token && { Authorization: `Bearer ${token}` }), ...options.headers }
  const signal = AbortSignal.any([AbortSignal.timeout(30_000), ...(options.signal ? [options.signal] : [])])
  const isAbsolute = /^\/(natural|ingest)\//.test(path)
  const response = await fetch((isAbsolute ? origin(service) : base(service)) + path, { ...options, headers, signal })
  const text = await response.text()
  // An invalid request would not load the server, so the case would prove nothing.
  if ([400, 401, 403, 404, 415].includes(response.status))
    throw new InvalidRequest(`${path} was answered with ${response.status}: ${text.slice(0, 500)}`)
  return text
}

/** Keeps `count` requests in flight until the signal is aborted. */
export const keepInFlight = (count, signal, request) =>
  Promise.all(
    Array.from({ length: count }, async (_, index) => {
      while (!signal.aborted)
        await request(index).catch((error) => {
          if (error instanceof InvalidRequest) throw error
          return sleep(50)
        })
    }),
  )

/** The text of a request. */
export const get = (path, token) => `GET /api/v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`

/** Waits until the case is over. */
export const pause = (signal) => sleep(3_600_000, null, { signal }).catch(ignore)

/** Sends a request and never reads the response. */
export function sendUnread(port, text, sockets) {
  const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(text)).pause()
  socket.on('error', ignore)
  sockets.push(socket)
}

/** Creates organizations and returns an access token of each. */
export async function otherOrganizations(service, count) {
  const tokens = []
  for (let index = 0; index < count; index++) {
    const name = `Abuser ${index} of ${count}`
    const organization = await createOrganization({ url: service.databaseUrl, name, assets: 1, credentials: 1 })
    tokens.push(...(await exchangeTokens(origin(service), organization.credentials)))
  }
  return tokens
}

const password = 'a long enough passphrase'
const accounts = new Set()

/** Signs in an admin of the organization and returns the access token. */
export async function signIn(service, organization) {
  const email = `admin-of-${organization.replaceAll(' ', '-')}@drill.example`.toLowerCase()
  const options = ['--email', email, '--role', 'admin', '--password', password]
  if (!accounts.has(email)) runCommand(service.databaseUrl, 'user', 'create', '--org', organization, ...options)
  accounts.add(email)
  const login = json({ email, password })
  return withRetries(async () => JSON.parse(await call(service, '/auth/login', null, login)).data.access_token)
}

/** Exchanges the credentials one after another for access tokens. */
export async function exchangeTokens(origin, credentials) {
  const tokens = []
  for (const credential of credentials) tokens.push(await withRetries(() => exchangeToken(origin, credential)))
  return tokens
}

/**
 * Between two cases the server may still reject requests because of the first one. Commands block this process meanwhile, so
 * it may use a connection that the server has closed.
 */
async function withRetries(work) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === 60) throw error
      await sleep(500)
    }
  }
}
