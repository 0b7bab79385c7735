import { describe, expect, it } from 'vitest'
import { useApp } from '../../../support/app.ts'
import { useAssetFixtures, assetsPath, assetPath } from '../../../support/assets.ts'
import type { Reply } from '../../../support/client.ts'
import { ImportRun } from '../../../support/imports.ts'
import { acceptedNumbers, rejectedNumbers } from '../../../support/metadata-numbers.ts'
import { naturalPath, naturalBase } from '../../../support/natural-key.ts'
import { expectValidationError, invalidValue, wrongType } from '../../../support/validation-errors.ts'

const fixtures = useAssetFixtures(useApp())

/** Sends JSON text unchanged: JavaScript numbers would lose precision. */
const send = (method: string, path: string, raw: string): Promise<Reply> =>
  fixtures.own.client.send(method, path, {
    raw,
    headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
  })

describe('A number in metadata that a double cannot represent exactly', () => {
  it.each(rejectedNumbers)('is rejected on create: %s [D47]', async (_what, metadata, field) => {
    const act = () => send('POST', assetsPath, `{"name":"n","metadata":${metadata}}`)
    expectValidationError(await fixtures.own.expectNoChange(act), invalidValue(field))
    const natively = () => send('POST', `${naturalBase}/assets`, `{"name":"n","metadata":${metadata}}`)
    expectValidationError(await fixtures.own.expectNoChange(natively), invalidValue(field))
  })

  it.each(rejectedNumbers)(
    'is rejected on PATCH and PUT, and nothing is stored: %s [D47]',
    async (_what, metadata, field) => {
      const asset = await fixtures.own.create({ metadata: { n: 1 } })
      const patch = () => send('PATCH', assetPath(asset), `{"name":"x","metadata":${metadata}}`)
      expectValidationError(await fixtures.own.expectNoChange(patch), invalidValue(field))
      const put = () => send('PUT', naturalPath('assets', asset.external_key), `{"name":"x","metadata":${metadata}}`)
      expectValidationError(await fixtures.own.expectNoChange(put), invalidValue(field))
    },
  )

  it.each(rejectedNumbers)('is rejected in a row of an import: %s [D47]', async (_what, metadata, field) => {
    const { accessToken: token } = await fixtures.own.org.signIn('admin')
    const run = await new ImportRun(fixtures.app, token).open('assets')
    const raw = `{"rows":[{"line":2,"external_key":"OK","name":"x"},{"line":3,"external_key":"N","name":"x","metadata":${metadata}}]}`
    const headers = { 'content-type': 'application/json' }
    const reply = await fixtures.app.anonymous('POST', `/api/v1/imports/${run.id}/rows`, { token, raw, headers })
    expectValidationError(reply, invalidValue(`rows[1].${field}`))
    expect((await run.get()).rows).toBe(0)
  })
})

describe('A number in metadata that a double represents', () => {
  it.each([
    ...acceptedNumbers,
    ['the largest double, digit by digit', String(BigInt(Number.MAX_VALUE)), Number.MAX_VALUE],
  ])('comes back as the same number: %s [D47]', async (_what, text, value) => {
    const made = await send('POST', assetsPath, `{"name":"n","metadata":{"n":${text}}}`)
    expect(made.status, made.text).toBe(201)
    expect((await fixtures.own.read(made.json.data)).metadata).toEqual({ n: value })
    const patched = await send('PATCH', assetPath(made.json.data), `{"metadata":{"m":[${text}]}}`)
    expect(patched.json.data.metadata).toEqual({ n: value, m: [value] })
  })
})

describe('A large integer in metadata that a double represents', () => {
  it.each([
    ['2^60', '1152921504606846976'],
    ['the negative of 2^64', '-18446744073709551616'],
    ['2^70, which JavaScript prints with an exponent', '1180591620717411303424'],
    ['the largest double', String(BigInt(Number.MAX_VALUE))],
  ])('is printed with every digit, as it was sent: %s [D47]', async (_what, digits) => {
    const text = `"metadata":{"n":${digits},"m":[${digits},"${digits}",":${digits},"]}`
    const made = await send('POST', assetsPath, `{"name":"n",${text}}`)
    const asset = made.json.data
    const key = asset.external_key
    const replies = [
      made,
      await send('PATCH', assetPath(asset), `{${text}}`),
      await fixtures.own.client.get(assetPath(asset)),
      await fixtures.own.client.get(assetsPath, { external_key: key }),
      await fixtures.own.client.get(naturalPath('assets', key)),
      await fixtures.own.client.get('/api/v1/bulk/assets'),
    ]
    for (const reply of replies)
      expect([reply.status, reply.text]).toEqual([expect.any(Number), expect.stringContaining(text)])
  })
})

describe('A number in another field that a double cannot represent', () => {
  it('is reported by its type: an integer out of range, or an integer where another type is expected [D14, D47]', async () => {
    const post = (body: string) => send('POST', '/api/v1/locations', body)
    expectValidationError(await post('{"name":"x","parent_id":9007199254740993}'), invalidValue('parent_id'))
    expectValidationError(await post('{"name":9007199254740993}'), wrongType('name', 'string', 'integer'))
    expectValidationError(await post('{"name":0.12345678901234567890}'), wrongType('name', 'string', 'number'))
    expectValidationError(
      await post('{"name":"x","parent_id":0.12345678901234567890}'),
      wrongType('parent_id', 'integer', 'number'),
    )
  })
})
