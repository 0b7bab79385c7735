import { describe, expect, it } from 'vitest'
import { useApp } from '../../../support/app.ts'
import { type AssetJson, assetPath, useAssetFixtures } from '../../../support/assets.ts'
import { expectApiError } from '../../../support/error-response.ts'
import {
  expectValidationError,
  invalidValue,
  readOnly,
  tooLong,
  tooShort,
  unknownField,
  wrongType,
} from '../../../support/validation-errors.ts'

const clock = { at: Date.parse('2026-03-02T12:00:00.000Z'), millis: () => clock.at }
const fixtures = useAssetFixtures(useApp({ clock }))

const full = () => ({
  name: 'Pallet jack',
  description: 'Blue',
  metadata: { owner: 'dock 3' },
  is_active: true,
  valid_from: '2026-01-01T00:00:00.000Z',
  valid_to: '2030-01-01T00:00:00.000Z',
  tags: [{ tag_type: 'rfid', value: `T-${Math.random()}` }],
})

/** Patches and expects that only these fields and `updated_at` changed. */
async function changes(asset: AssetJson, body: object, expected: object): Promise<void> {
  const reply = await fixtures.own.patch(asset, body)
  expect(reply.status, reply.text).toBe(200)
  const { updated_at } = reply.json.data
  expect(updated_at > asset.updated_at).toBe(true)
  expect(reply.json).toStrictEqual({ data: { ...asset, ...expected, updated_at } })
  expect(await fixtures.own.read(asset)).toStrictEqual(reply.json.data)
}

describe('a PATCH', () => {
  it.each([
    ['the name', { name: 'Fork lift' }],
    ['the description', { description: 'Red\n' }],
    ['the description to nothing', { description: null }],
    ['the description to an empty one', { description: '' }],
    ['the active flag', { is_active: false }],
    ['the start of validity', { valid_from: '2025-01-01T00:00:00.000Z' }],
    ['the end of validity', { valid_to: '2040-01-01T00:00:00.000Z' }],
    ['the end of validity to never', { valid_to: null }],
    ['the metadata', { metadata: { owner: 'dock 4' } }],
    ['several fields', { name: 'Ladder', description: null, is_active: false, valid_to: null }],
  ])('changes %s and no other field', async (_what, body) => {
    await changes(await fixtures.own.create(full()), body, body)
  })

  it('with an empty body changes no settable field', async () => {
    await changes(await fixtures.own.create(full()), {}, {})
  })

  it('with the values the asset has changes no settable field', async () => {
    const asset = await fixtures.own.create(full())
    const { name, description, metadata, is_active, valid_from, valid_to } = asset
    await changes(asset, { name, description, metadata, is_active, valid_from, valid_to }, {})
  })

  it('changes is_active to false and back', async () => {
    const asset = await fixtures.own.create(full())
    await fixtures.own.patch(asset, { is_active: false })
    const inactive = await fixtures.own.client.get('/api/v1/assets', {
      is_active: false,
      external_key: asset.external_key,
    })
    expect(inactive.json.total_count).toBe(1)
    await fixtures.own.patch(asset, { is_active: true })
    expect((await fixtures.own.read(asset)).is_active).toBe(true)
  })

  it('needs assets:write and no other scope', async () => {
    const asset = await fixtures.own.create()
    expect((await fixtures.own.org.client('assets:write').patch(assetPath(asset), {})).status).toBe(200)
    const reader = fixtures.own.org.client('assets:read', 'locations:read', 'locations:write', 'tracking:read')
    const reply = await fixtures.own.expectNoChange(() => reader.patch(assetPath(asset), { name: 'x' }))
    expectApiError(reply, 'forbidden', { detail: 'Missing required scope: assets:write' })
  })
})

describe('updated_at', () => {
  it('advances strictly at every accepted PATCH, also while the clock does not advance (D21)', async () => {
    const asset = await fixtures.own.create()
    let last = asset.updated_at
    for (const body of [{}, { name: 'a' }, { name: 'a' }, { metadata: {} }, { is_active: true }, {}]) {
      const { updated_at } = (await fixtures.own.patch(asset, body)).json.data
      expect(Date.parse(updated_at)).toBeGreaterThan(Date.parse(last))
      last = updated_at
    }
    expect((await fixtures.own.read(asset)).created_at).toBe(asset.created_at)
  })

  it('advances strictly also after the clock was set back (D21)', async () => {
    const asset = await fixtures.own.create()
    clock.at -= 3_600_000
    const reply = await fixtures.own.patch(asset, { name: 'a' })
    clock.at += 3_600_000
    expect(Date.parse(reply.json.data.updated_at)).toBeGreaterThan(Date.parse(asset.updated_at))
  })

  it('is the time of the write when the clock advances', async () => {
    const asset = await fixtures.own.create()
    clock.at += 5_432
    const reply = await fixtures.own.patch(asset, { name: 'a' })
    expect(reply.json.data.updated_at).toBe(new Date(clock.at).toISOString())
  })
})

describe('a PATCH body', () => {
  it.each([
    ['an unknown key', { colour: 'red' }, [unknownField('colour')]],
    ['several unknown keys', { zeta: 1, name: '', Alpha: 2, beta: 3 }, ['Alpha', 'beta', 'zeta'].map(unknownField)],
    [
      'a location’s parent',
      { parent_id: null, parent_external_key: null },
      ['parent_external_key', 'parent_id'].map(unknownField),
    ],
    ['a key every object has', { ['__proto__']: {}, constructor: {} }, ['__proto__', 'constructor'].map(unknownField)],
    ['a location', { location_id: 7 }, [readOnly('location_id')]],
    ['a location by key', { location_external_key: 'DOCK' }, [readOnly('location_external_key')]],
    [
      'a location, even null',
      { location_external_key: null, location_id: null },
      [readOnly('location_id'), readOnly('location_external_key')],
    ],
    ['a null name', { name: null }, [wrongType('name', 'string', 'null')]],
    ['an empty name', { name: '' }, [tooShort('name')]],
    ['a name that is too long', { name: 'x'.repeat(256) }, [tooLong('name', 255)]],
    ['a description that is too long', { description: 'x'.repeat(1025) }, [tooLong('description', 1024)]],
    ['null metadata', { metadata: null }, [wrongType('metadata', 'object', 'null')]],
    ['a null flag', { is_active: null }, [wrongType('is_active', 'boolean', 'null')]],
    ['a null start', { valid_from: null }, [wrongType('valid_from', 'string', 'null')]],
    [
      'several wrong fields, in the order of the field table',
      { valid_to: 'x', valid_from: '', description: 'a\u0000', name: '' },
      [tooShort('name'), invalidValue('description'), invalidValue('valid_from'), invalidValue('valid_to')],
    ],
    ['a valid and an invalid field', { description: 'new', name: '' }, [tooShort('name')]],
  ])('with %s is rejected and changes nothing', async (_what, body, problems) => {
    const asset = await fixtures.own.create(full())
    expectValidationError(await fixtures.own.expectNoChange(() => fixtures.own.patch(asset, body)), ...problems)
  })

  const notJson = 'Request body is not valid JSON'
  const notObject = 'Request body could not be decoded as the expected type'
  it.each([
    ['the literal null', 'null', 'Request body must be a JSON object (RFC 7396)'],
    ['null between spaces', ' \n null ', 'Request body must be a JSON object (RFC 7396)'],
    ['nothing', '', notJson],
    ['half an object', '{"name": "x"', notJson],
    ['two objects', '{} {}', notJson],
    ['single quotes', "{'name': 'x'}", notJson],
    ['a comment', '{} // none', notJson],
    ['a list', '[]', notObject],
    ['a list of objects', '[{"name": "x"}]', notObject],
    ['a JSON patch', '[{"op": "replace", "path": "/name", "value": "x"}]', notObject],
    ['a text', '"x"', notObject],
    ['a number', '1', notObject],
    ['a boolean', 'false', notObject],
  ])('of %s is bad_request without fields', async (_what, raw, detail) => {
    const asset = await fixtures.own.create()
    const headers = { 'content-type': 'application/merge-patch+json' }
    const send = () => fixtures.own.client.send('PATCH', assetPath(asset), { raw, headers })
    expectApiError(await fixtures.own.expectNoChange(send), 'bad_request', { detail, instance: assetPath(asset) })
  })

  it('is accepted only as a merge patch', async () => {
    const asset = await fixtures.own.create()
    const headers = { 'content-type': 'application/json' }
    const send = () => fixtures.own.client.send('PATCH', assetPath(asset), { raw: '{"name": "x"}', headers })
    expectApiError(await fixtures.own.expectNoChange(send), 'unsupported_media_type', {
      detail: 'Content-Type must be application/merge-patch+json on PATCH operations',
    })
  })
})
