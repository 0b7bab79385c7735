import { Lastseen } from '../../../client/src/lastseen.ts'
import type { AccessTokenProvider } from '../../../client/src/tokens.ts'
import { checkConnection } from './connection.ts'

/** Longer than any request of the app should take; imports and reports are the slowest. */
const longTimeoutMs = 300_000

/** A deletion that is sent while the user leaves the page is completed in the background. */
const fetchInPage: typeof fetch = (input, init) => fetch(input, { ...init, keepalive: init?.method === 'DELETE' })

/**
 * The client package for this page's server. It does not retry: queries are repeated by React Query, and a user sees at once
 * that an action failed. A request without a response, or with that of a proxy in front of a server that is away, starts
 * the checks of the connection.
 */
export const createClient = (accessToken: AccessTokenProvider, timeoutMs = longTimeoutMs): Lastseen =>
  new Lastseen({
    baseUrl: window.location.origin,
    accessToken,
    attempts: 1,
    rateLimitAttempts: 1,
    timeoutMs,
    fetch: fetchInPage,
    onResponse: ({ status }) => {
      if (status === null || status > 500) void checkConnection()
    },
  })

/** For requests of users who are not signed in: without an access token. */
export const publicClient = createClient(() => '')
