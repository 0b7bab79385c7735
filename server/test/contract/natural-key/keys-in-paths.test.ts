import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../support/app.ts'
import type { Client } from '../../support/client.ts'
import { expectApiError } from '../../support/error-response.ts'
import { naturalRoutes } from '../../support/openapi.ts'
import { naturalPath, createNaturalAsset, createNaturalLocation, naturalBase } from '../../support/natural-key.ts'
import { sendRaw } from '../../support/raw-http.ts'
import { propertyRuns } from '../../support/rounds.ts'

const context = useApp()

let full: Client
beforeAll(async () => {
  full = (await context.app.newOrg()).full
})

const awkward = [
  'a/b',
  '100%',
  '%2F',
  'with space',
  'plus+plus',
  'ä/ö',
  '日本',
  '🚚',
  '?q=1',
  '#x',
  'a&b=c',
  '"',
  "'",
  ';',
]

describe('A natural key in a path', () => {
  it.each(awkward)('may be %s, percent-encoded, on every operation (D13)', async (key) => {
    const made = await createNaturalAsset(full, { identifier: key, name: 'a' })
    expect(made.identifier).toBe(key)
    expect((await full.get(naturalPath('assets', key))).json.data).toEqual(made)
    expect((await full.put(naturalPath('assets', key), { name: 'b' })).json.data).toMatchObject({
      identifier: key,
      name: 'b',
    })
    const tag = await full.post(naturalPath('assets', key, '/identifiers'), { value: `tag of ${key}` })
    expect((await full.delete(naturalPath('assets', key, `/identifiers/${tag.json.data.id}`))).status).toBe(204)
    expect((await full.get(naturalPath('assets', key, '/history'))).json.total_count).toBe(0)
    await createNaturalLocation(full, key)
    expect((await full.get(naturalPath('locations', key, '/descendants'))).status).toBe(200)
    expect((await full.delete(naturalPath('locations', key))).status).toBe(204)
    expect((await full.delete(naturalPath('assets', key))).status).toBe(204)
    expectApiError(await full.get(naturalPath('assets', key)), 'not_found')
  })

  it('may be any valid key: a record created with it is found by exactly that key', async () => {
    const key = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
      // eslint-disable-next-line no-control-regex
      .filter((text) => !/[\u0000-\u001f\u007f]/.test(text) && text !== '.' && text !== '..')
    await fc.assert(
      fc.asyncProperty(key, async (identifier) => {
        const reply = await full.post(`${naturalBase}/assets`, { identifier, name: 'a' })
        expect([201, 409]).toContain(reply.status)
        const read = await full.get(naturalPath('assets', identifier))
        expect([read.status, read.json.data.identifier]).toEqual([200, identifier])
      }),
      { numRuns: propertyRuns(40) },
    )
  })

  it('is compared exactly: nothing is trimmed, folded or normalized (D13)', async () => {
    await createNaturalAsset(full, { identifier: 'Straße', name: 'a' })
    for (const other of ['straße', 'Straße ', 'Strasse', 'Straße'.normalize('NFD') + '\u0301'])
      expectApiError(await full.get(naturalPath('assets', other)), 'not_found')
  })

  it.each([
    ['text that is not UTF-8', '%FF', 'invalid_value', undefined],
    ['half an escape', '%2', 'invalid_value', undefined],
    ['a control character', '%00', 'invalid_value', undefined],
    ['256 characters', 'x'.repeat(256), 'too_long', { max_length: 255 }],
  ])('is 400 for %s', async (_what, segment, code, params) => {
    const field = { field: 'identifier', code, ...(params === undefined ? {} : { params }) }
    for (const kind of ['assets', 'locations'])
      expectApiError(await full.get(`${naturalBase}/${kind}/${segment}`), 'validation_error', { fields: [field] })
  })

  it('may be . and .. where the client does not normalize them', async () => {
    const authorization = `Authorization: Bearer ${await full.token()}`
    for (const identifier of ['.', '..']) {
      await createNaturalAsset(full, { identifier, name: 'dots' })
      const lines = [`GET ${naturalBase}/assets/${identifier} HTTP/1.1`, 'Host: a', authorization]
      expect((await sendRaw(context.app.url, lines)).json.data.identifier).toBe(identifier)
    }
  })

  it('of 255 characters outside the basic multilingual plane is found', async () => {
    const identifier = '🚚'.repeat(255)
    await createNaturalAsset(full, { identifier, name: 'a' })
    expect((await full.get(naturalPath('assets', identifier))).json.data.identifier).toBe(identifier)
  })
})

describe('A record whose key equals a static path segment', () => {
  const words = ['assets', 'locations', 'identifiers', 'history', 'ancestors', 'children', 'descendants', 'save', 'me']
  for (const { path } of naturalRoutes)
    for (const part of path.split('/')) if (/^\w+$/.test(part) && !words.includes(part)) words.push(part)

  it.each(words.flatMap((word) => [['assets', word] as const, ['locations', word] as const]))(
    'in %s, called %s, has a Location that GET, PUT and DELETE resolve to it [D50]',
    async (kind, identifier) => {
      const made = await full.post(`${naturalBase}/${kind}`, { identifier, name: 'fixed' })
      const address = made.headers['location']!
      expect((await full.get(address)).json).toEqual(made.json)
      expect((await full.get(new URL(address, 'http://localhost').pathname)).json).toEqual(made.json)
      expect((await full.put(address, { name: 'changed' })).json.data).toMatchObject({ identifier, name: 'changed' })
      expect((await full.delete(address)).status).toBe(204)
      expectApiError(await full.get(address), 'not_found')
    },
  )

  it('has a Location with the first letter percent-encoded where the static segment takes precedence [D50]', async () => {
    const location = await full.post(`${naturalBase}/locations`, { identifier: 'current', name: 'x' })
    expect(location.headers['location']).toBe('/natural/api/v1/locations/%63urrent')
    const asset = await full.post(`${naturalBase}/assets`, { identifier: 'current', name: 'x' })
    expect(asset.headers['location']).toBe('/natural/api/v1/assets/current')
    for (const { headers } of [location, asset]) await full.delete(headers['location']!)
  })
})

describe('A location that is called current', () => {
  it('is read, changed and deleted at its Location; /locations/current is the snapshot and has no other method [D50]', async () => {
    const made = await full.post(`${naturalBase}/locations`, { identifier: 'current', name: 'a' })
    const address = made.headers['location']!
    await createNaturalLocation(full, 'below', { parent_identifier: 'current' })
    expect((await full.get(`${naturalBase}/locations/current`)).json).toHaveProperty('total_count')
    for (const reply of [
      await full.post(`${naturalBase}/locations/current`, { name: 'b' }),
      await full.put(`${naturalBase}/locations/current`, { name: 'b' }),
      await full.delete(`${naturalBase}/locations/current`),
    ]) {
      expectApiError(reply, 'method_not_allowed', { detail: 'Allowed methods: GET, HEAD' })
      expect(reply.headers['allow']).toBe('GET, HEAD')
    }
    expect((await full.get(address)).json.data).toMatchObject({ identifier: 'current', name: 'a' })
    expect((await full.put(address, { name: 'b' })).json.data.name).toBe('b')
    expect((await full.get(`${naturalBase}/locations/current/children`)).json.data).toMatchObject([
      { identifier: 'below' },
    ])
    expect((await full.post(`${naturalBase}/locations/current/identifiers`, { value: 'CURRENT' })).status).toBe(201)
    await full.delete(naturalPath('locations', 'below'))
    expect((await full.delete(address)).status).toBe(204)
  })
})
