import { afterEach, describe, expect, it } from 'vitest'
import { useApp } from '../support/app.ts'
import { expectApiError } from '../support/error-response.ts'
import { RawConnection } from '../support/raw-http.ts'
import { Site, eventually } from '../support/tracking.ts'

const context = useApp()
const open: RawConnection[] = []
afterEach(() => {
  for (const wire of open.splice(0)) wire.close()
})

const mebibyte = 1024 * 1024
const json = 'Content-Type: application/json'

/** Sends a request whose body lacks at least its last byte. */
async function sendUnfinished(path: string, token: string | null, sentBytes: number): Promise<RawConnection> {
  const wire = await RawConnection.open(context.app.url)
  open.push(wire)
  const authorization = token === null ? [] : [`Authorization: Bearer ${token}`]
  const lines = [`POST ${path} HTTP/1.1`, 'Host: a', 'User-Agent: a', ...authorization, json]
  wire.request([...lines, `Content-Length: ${mebibyte}`], Buffer.alloc(sentBytes, ' '))
  return wire
}

/** The statuses of the responses to requests whose bodies are not complete. */
async function refusals(wires: RawConnection[], count: number): Promise<void> {
  const replies: unknown[] = []
  for (const wire of wires) void wire.readResponse().then((reply) => reply !== null && replies.push(reply))
  await eventually(async () => expect(replies).toHaveLength(count))
  for (const reply of replies)
    expectApiError(reply as never, 'rate_limited', { detail: 'The service is busy; retry after 1 second' })
}

describe('Requests whose bodies do not arrive', () => {
  it('hold no slots: while five organizations send none of theirs, another one is served at once', async () => {
    const quiet = await context.app.newOrg()
    const token = await quiet.full.token()
    for (const count of [12, 1, 1, 1, 1]) {
      const org = await context.app.newOrg()
      const slow = await org.full.token()
      for (let index = 0; index < count; index++) await sendUnfinished('/api/v1/assets', slow, 1)
    }
    await new Promise((resume) => setTimeout(resume, 200))
    const startedAt = performance.now()
    const reply = await context.app.anonymous('POST', '/api/v1/assets', { token, json: { name: 'Jack' } })
    expect(reply.status).toBe(201)
    expect(performance.now() - startedAt).toBeLessThan(1500)
  })

  it('hold no slots of readers either', async () => {
    const site = await Site.open(context.app, 'Dock')
    const tag = await site.createAsset('Pallet')
    for (let index = 0; index < 200; index++) await sendUnfinished('/ingest/v1/reads', site.token, 1)
    const other = await Site.open(context.app, 'Gate')
    for (let index = 0; index < 64; index++) await sendUnfinished('/ingest/v1/reads', other.token, 1)
    expect(tag).toBeDefined()
    const raw = JSON.stringify([{ tag: 'A' }])
    const startedAt = performance.now()
    const reply = await context.app.anonymous('POST', '/ingest/v1/reads', { token: site.token, raw })
    expect(reply.status).toBe(202)
    expect(performance.now() - startedAt).toBeLessThan(1500)
  })

  it('of one organization hold at most 16 MiB; smaller requests are served meanwhile', async () => {
    const org = await context.app.newOrg()
    const token = await org.full.token()
    const wires: RawConnection[] = []
    for (let index = 0; index < 24; index++) wires.push(await sendUnfinished('/api/v1/assets', token, mebibyte - 1))
    await refusals(wires, 8)
    const small = await context.app.anonymous('POST', '/api/v1/assets', { token, json: { name: 'Jack' } })
    expect(small.status).toBe(201)
    const raw = JSON.stringify({ name: 'Jack' }).padEnd(mebibyte - 1)
    const other = await (await context.app.newOrg()).full.token()
    const headers = { 'content-type': 'application/json' }
    expect((await context.app.anonymous('POST', '/api/v1/assets', { token: other, raw, headers })).status).toBe(201)
  })

  it.each(['/api/v1/oauth/token', '/api/v1/auth/login'])(
    'of one client address without a token hold at most 2 MiB at %s; smaller requests are served meanwhile',
    async (path) => {
      const wires: RawConnection[] = []
      for (let index = 0; index < 10; index++) wires.push(await sendUnfinished(path, null, mebibyte - 1))
      await refusals(wires, 8)
      const org = await context.app.newOrg()
      await expect(org.full.token()).resolves.toMatch(/^ey/)
    },
  )

  it('free their memory when the client leaves', async () => {
    const wires: RawConnection[] = []
    for (let index = 0; index < 2; index++) wires.push(await sendUnfinished('/api/v1/oauth/token', null, mebibyte - 1))
    await new Promise((resume) => setTimeout(resume, 200))
    for (const wire of wires) wire.close()
    await eventually(async () => {
      const raw = `{"x":"${'x'.repeat(mebibyte - 8)}"}`
      const headers = { 'content-type': 'application/json' }
      const reply = await context.app.anonymous('POST', '/api/v1/oauth/token', { raw, headers })
      expectApiError(reply, 'validation_error')
    })
  })
})
