import { randomInt } from 'node:crypto'
import { describe, it } from 'vitest'
import { useApp } from '../support/app.ts'
import { expectApiError } from '../support/error-response.ts'

const context = useApp()

/** Random characters of four bytes, which the database cannot compress. */
const incompressible = (length: number): string =>
  Array.from({ length }, () => String.fromCodePoint(randomInt(0x20000, 0x2a000))).join('')

describe('A failed token exchange', () => {
  it('is 401 for a client id of 1,000 random characters, and is counted', async () => {
    const json = { grant_type: 'client_credentials', client_id: incompressible(1000), client_secret: 'ls_0' }
    const exchange = () => context.app.anonymous('POST', '/api/v1/oauth/token', { json })
    for (let count = 0; count < 20; count++) expectApiError(await exchange(), 'unauthorized')
    expectApiError(await exchange(), 'rate_limited')
  })
})
