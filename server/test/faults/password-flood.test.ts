import { describe, expect, it } from 'vitest'
import { useApp } from '../support/app.ts'
import { newEmail, password } from '../support/accounts.ts'
import { exchange, mintKey } from '../support/auth.ts'

const context = useApp({ singleServerReason: 'the queues under test are those of one process' })

describe('500 sign-ups at once from one address', () => {
  it('never cause a token exchange from the same address to be rejected', async () => {
    const { app } = context
    const key = await mintKey(await app.newOrg())
    let running = 500
    const signUp = async (): Promise<number> => {
      const json = { email: newEmail(), password, organization_name: 'Flood' }
      const headers = { 'content-type': 'application/json', 'user-agent': 'lastseen-tests' }
      const init = { method: 'POST', headers, body: JSON.stringify(json) }
      const { status } = await fetch(`${app.url}/api/v1/auth/signup`, init).finally(() => running--)
      return status
    }
    const signUps = Array.from({ length: running }, signUp)
    const times: number[] = []
    while (running > 0) {
      const start = performance.now()
      expect((await exchange(app, key)).status).toBe(200)
      times.push(performance.now() - start)
    }
    const statuses = new Set(await Promise.all(signUps))
    expect([...statuses].filter((status) => status !== 201 && status !== 429)).toEqual([])
    expect(times.length).toBeGreaterThan(5)
    times.sort((a, b) => a - b)
    expect(times[Math.floor(times.length / 2)]).toBeLessThan(500)
  })
})
