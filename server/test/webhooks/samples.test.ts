import { type ChildProcess, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort, repository } from '../support/process.ts'
import type { Received } from '../support/receiver.ts'
import { eventually } from '../support/tracking.ts'
import { Watched, urlOf, useNetwork } from '../support/webhooks.ts'

const network = useNetwork()
const folder = mkdtempSync(join(tmpdir(), 'lastseen-samples-'))
const sample = (name: string): string => join(repository, 'docs/samples', name)

let watched: Watched
let real: Received
beforeAll(async () => {
  const receiver = await network.receiver()
  watched = await Watched.with(network.app, urlOf(receiver))
  await watched.move()
  await eventually(async () => expect(receiver.received).toHaveLength(1))
  real = receiver.received[0]!
  const { outputText } = ts.transpileModule(readFileSync(sample('receiver.ts'), 'utf8'), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  })
  writeFileSync(join(folder, 'receiver.mjs'), outputText)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each([
  ['TypeScript', () => [process.execPath, join(folder, 'receiver.mjs')]],
  ['Python', () => ['python3', sample('receiver.py')]],
])('the receiver in %s of the documentation', (_language, command) => {
  let child: ChildProcess
  let url: string
  let printed = ''
  beforeAll(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}/`
    const [file, ...args] = command()
    const env = { PATH: process.env['PATH'], PORT: String(port), WEBHOOK_SECRET: watched.secret }
    child = spawn(file!, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (printed += text))
    await eventually(async () => expect(printed).toContain('listening'), 20_000)
  })
  afterAll(() => void child.kill())

  async function post(body: Buffer, headers: Record<string, string>): Promise<number> {
    const sent = { 'content-type': 'application/json', ...headers }
    const reply = await fetch(url, { method: 'POST', headers: sent, body: new Uint8Array(body) })
    await reply.arrayBuffer()
    return reply.status
  }

  const signed = (body: string, seconds: number): [Buffer, Record<string, string>] => {
    const hex = createHmac('sha256', watched.secret).update(`${seconds}.${body}`).digest('hex')
    return [Buffer.from(body), { 'x-service-timestamp': String(seconds), 'x-service-signature': `sha256=${hex}` }]
  }

  const genuine = () => {
    const { 'x-service-timestamp': timestamp, 'x-service-signature': signature } = real.headers
    return { 'x-service-timestamp': timestamp!, 'x-service-signature': signature! }
  }

  const lines = (): number => printed.trim().split('\n').length - 1

  it('takes a real delivery, and handles it once however often it comes', async () => {
    expect(await post(real.body, genuine())).toBe(204)
    expect(await post(real.body, genuine())).toBe(204)
    await eventually(async () => expect(printed).toContain('THING 1 (nowhere) -> Dock'))
    expect(lines()).toBe(1)
  })

  it('refuses a body or a timestamp that was changed, and a signature of another secret', async () => {
    const changed = Buffer.from(real.body.toString().replace('Thing 1', 'Thing 2'))
    expect(await post(changed, genuine())).toBe(401)
    const later = String(Number(real.headers['x-service-timestamp']) + 1)
    expect(await post(real.body, { ...genuine(), 'x-service-timestamp': later })).toBe(401)
    expect(await post(real.body, { ...genuine(), 'x-service-signature': `sha256=${'0'.repeat(64)}` })).toBe(401)
    expect(await post(real.body, {})).toBe(401)
    expect(lines()).toBe(1)
  })

  it('refuses what is older than five minutes although it is genuine', async () => {
    const now = Math.floor(Date.now() / 1000)
    const body = real.body.toString().replace(/"delivery_id":"[^"]+"/, '"delivery_id":"another"')
    expect(await post(...signed(body, now - 310))).toBe(401)
    expect(await post(...signed(body, now - 280))).toBe(204)
    await eventually(async () => expect(lines()).toBe(2))
  })

  it('ignores an event it does not know', async () => {
    const body = JSON.stringify({ event: 'asset.painted', delivery_id: 'x', data: {} })
    expect(await post(...signed(body, Math.floor(Date.now() / 1000)))).toBe(204)
    expect(lines()).toBe(2)
  })
})
