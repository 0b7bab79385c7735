import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'
import { newWebhookSecret } from '../../server/src/kernel/secrets.ts'
import { sign } from '../../server/src/webhooks/signature.ts'
import { useApp } from '../../server/test/support/app.ts'
import { version } from '../src/index.ts'
import { newKey } from './support/clients.ts'
import { run } from './support/cli.ts'

const context = useApp()
const home = fileURLToPath(new URL('..', import.meta.url))
const folder = join(home, '.cache/readme')
const source = join(folder, 'readme.ts')

const body = JSON.stringify({
  event: 'asset.moved',
  data: { asset: { external_key: 'W' }, to_location: { name: 'Dock' } },
})

/** Joins all examples into one program and calls the webhook receiver with a genuine and a forged delivery. */
beforeAll(() => {
  const examples = [...readFileSync(join(home, 'README.md'), 'utf8').matchAll(/```ts\n(.*?)```/gs)].map(
    ([, code]) => code,
  )
  expect(examples.length).toBeGreaterThan(5)
  const receiverCalls = `
const [delivery, forged] = JSON.parse(process.env['DELIVERIES']!)
for (const init of [delivery, forged]) console.log((await receive(new Request('http://localhost/', init))).status)
`
  mkdirSync(folder, { recursive: true })
  writeFileSync(source, [...examples, receiverCalls].join('\n'))
})

describe('the examples of the README', () => {
  it('compile against the built package', () => {
    const options: ts.CompilerOptions = {
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      types: ['node'],
      strict: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
    }
    const found = ts.getPreEmitDiagnostics(ts.createProgram([source], options))
    expect(found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([])
  })

  it('run with the built package and print the expected output', async () => {
    const { outputText } = ts.transpileModule(readFileSync(source, 'utf8'), {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
    })
    const script = join(folder, 'readme.mjs')
    writeFileSync(script, outputText)
    const { clientId, clientSecret } = await newKey(await context.app.newOrg('Northwind'))
    const secret = newWebhookSecret()
    const now = Date.now()
    const delivery = { id: 'delivery', occurredMs: now, startedMs: now, body: Buffer.from(body) }
    const { headers } = sign(secret, delivery)
    const deliveries = [body, `${body} `].map((text) => ({ method: 'POST', headers, body: text }))
    const env = {
      LASTSEEN_URL: context.app.url,
      LASTSEEN_CLIENT_ID: clientId,
      LASTSEEN_CLIENT_SECRET: clientSecret,
      WEBHOOK_SECRET: secret,
      DELIVERIES: JSON.stringify(deliveries),
    }
    const result = await run([], { env, command: [process.execPath, script] })
    expect(result).toMatchObject({ code: 0, stderr: expect.stringMatching(/^(\d of 2\n)+$/) })
    expect(result.stdout.trimEnd().split('\n')).toEqual([
      'Northwind: assets:read assets:write locations:read locations:write tracking:read',
      "[ 'JACK-7 at HALL-A' ]",
      'JACK-7 Pallet jack 7',
      '2 created, 0 with errors',
      'ERP-1 ERP-2 JACK-7',
      expect.stringMatching(/^key in use, request [0-9A-Z]{26}$/),
      'DRILL-1',
      'W is at Dock',
      '204',
      '401',
    ])
  })
})

describe('the version', () => {
  it('is the same in the package and in the program', async () => {
    expect(JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')).version).toBe(version)
    expect((await run(['--version'])).stdout).toBe(`${version}\n`)
  })
})
