import { request } from 'undici'
import { afterEach, describe, expect, it } from 'vitest'
import { type Answer, route } from '../../src/http/route.ts'
import { type Mounted, mountRows } from '../support/mounted.ts'

let mounted: Mounted
afterEach(() => mounted.close())

async function mount(chunks: () => AsyncIterable<string>): Promise<void> {
  const handle = async (): Promise<Answer> => ({
    status: 200,
    download: { type: 'text/csv', fileName: 'a.csv', chunks: chunks() },
  })
  const success = { status: 200, description: '' } as const
  const common = { id: 'file', method: 'GET', path: '/file', group: '', summary: '', scopes: [] } as const
  mounted = await mountRows([route({ ...common, access: 'public', success, handle })])
}

const ask = (method: 'GET' | 'HEAD' = 'GET') =>
  request(`${mounted.url}/api/v1/file`, { method, headers: { 'x-request-id': 'é' } })

describe('A file that is made while it is sent', () => {
  it('arrives whole', async () => {
    await mount(async function* () {
      yield 'ä'
      yield 'b'
    })
    const reply = await ask()
    expect([reply.statusCode, reply.headers['content-type'], await reply.body.text()]).toEqual([200, 'text/csv', 'äb'])
    await expect.poll(() => mounted.answered).toEqual([{ operation: 'file', status: 200 }])
  })

  it('that cannot be begun is an ordinary refusal', async () => {
    // eslint-disable-next-line require-yield
    await mount(async function* () {
      throw new Error('no database')
    })
    const reply = await ask()
    expect(reply.statusCode).toBe(500)
    expect(await reply.body.json()).toMatchObject({ error: { type: 'internal_error' } })
  })

  it('that cannot be finished ends with the connection, so that nobody takes it for whole', async () => {
    await mount(async function* () {
      yield 'half'
      throw new Error('lost')
    })
    await expect(ask().then((reply) => reply.body.text())).rejects.toThrow()
    await expect.poll(() => mounted.bugs.map(String)).toEqual(['Error: lost'])
  })

  it('is made no faster than it is taken, and no further once nobody takes it', async () => {
    let made = 0
    let isOver = false
    await mount(async function* () {
      try {
        for (; made < 10_000; made++) yield 'x'.repeat(64 * 1024)
      } finally {
        isOver = true
      }
    })
    const reply = await ask()
    let before = -1
    // What the two ends of the connection hold is a few megabytes; then the making stands still.
    await expect.poll(() => [made === before, (before = made)][0], { interval: 200, timeout: 15_000 }).toBe(true)
    expect(made).toBeLessThan(1000)
    reply.body.destroy()
    reply.body.on('error', () => undefined)
    await expect.poll(() => isOver).toBe(true)
    expect(made).toBeLessThan(1000)
  })

  it('is announced and not sent to HEAD', async () => {
    await mount(async function* () {
      yield 'a'
    })
    const reply = await ask('HEAD')
    expect([reply.statusCode, reply.headers['content-disposition'], await reply.body.text()]).toEqual([
      200,
      'attachment; filename="a.csv"',
      '',
    ])
  })
})
