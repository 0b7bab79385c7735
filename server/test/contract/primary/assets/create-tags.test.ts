import { describe, expect, it } from 'vitest'
import { useApp } from '../../../support/app.ts'
import { assetPath, useAssetFixtures } from '../../../support/assets.ts'
import { expectApiError } from '../../../support/error-response.ts'
import { create } from '../../../support/master-data.ts'
import {
  expectValidationError,
  invalidValue,
  required,
  tooShort,
  unknownField,
  wrongType,
} from '../../../support/validation-errors.ts'

const fixtures = useAssetFixtures(useApp())

const rfid = (value: string) => ({ tag_type: 'rfid', value })

describe('tags on create', () => {
  it('are attached with the asset, each with its own id (D17)', async () => {
    const tags = [rfid('C-1'), { tag_type: 'ble', value: 'C-1' }, { tag_type: 'barcode', value: 'C-1' }]
    const asset = await fixtures.own.create({ tags })
    expect(asset.tags).toStrictEqual(tags.map((tag) => ({ id: expect.any(Number), ...tag })))
    expect(new Set([asset.id, ...asset.tags.map((tag) => tag.id)]).size).toBe(4)
    expect((await fixtures.own.client.delete(`${assetPath(asset)}/tags/${asset.tags[1]!.id}`)).status).toBe(204)
    expect((await fixtures.own.read(asset)).tags).toStrictEqual([asset.tags[0], asset.tags[2]])
  })

  it('are shown in the order they were sent, by the create and by every later read', async () => {
    const values = Array.from({ length: 60 }, (_, index) => `order-${index}`)
    const asset = await fixtures.own.create({ external_key: 'MANY', tags: values.map(rfid) })
    expect(asset.tags.map((tag) => tag.value)).toEqual(values)
    expect((await fixtures.own.read(asset)).tags).toStrictEqual(asset.tags)
    const list = await fixtures.own.client.get('/api/v1/assets', { external_key: 'MANY' })
    expect(list.json.data).toStrictEqual([asset])
    expect((await fixtures.own.patch(asset, {})).json.data.tags).toStrictEqual(asset.tags)
  })

  it('may be an empty list', async () => {
    expect((await fixtures.own.create({ tags: [] })).tags).toEqual([])
  })

  it('are all rejected when another asset has one of them, and no asset is created (D17)', async () => {
    await fixtures.own.create({ tags: [rfid('HELD')] })
    const body = { name: 'a', external_key: 'ALL-OR-NOTHING', tags: [rfid('FREE-1'), rfid('held'), rfid('FREE-2')] }
    expectApiError(await fixtures.own.expectNoChange(() => fixtures.own.post(body)), 'conflict')
    const without = { ...body, tags: [rfid('FREE-1'), rfid('FREE-2')] }
    expect((await fixtures.own.post(without)).status).toBe(201)
  })

  it('are all rejected when a location has one of them (D22)', async () => {
    await create(fixtures.own.client, 'locations', { name: 'Dock', tags: [rfid('ON-DOCK')] })
    const body = { name: 'a', tags: [rfid('FREE-3'), rfid('on-dock')] }
    expectApiError(await fixtures.own.expectNoChange(() => fixtures.own.post(body)), 'conflict')
  })

  it('are all rejected when two of them are the same physical tag (D22)', async () => {
    const body = { name: 'a', tags: [rfid('TWICE'), rfid('twice')] }
    expectApiError(await fixtures.own.expectNoChange(() => fixtures.own.post(body)), 'conflict')
  })

  it('are rejected with the asset when its key is in use', async () => {
    await fixtures.own.create({ external_key: 'KEY-HELD' })
    const body = { name: 'a', external_key: 'KEY-HELD', tags: [rfid('NEVER')] }
    expectApiError(await fixtures.own.expectNoChange(() => fixtures.own.post(body)), 'conflict')
    expect((await fixtures.own.post({ ...body, external_key: 'KEY-FREE' })).status).toBe(201)
  })

  const good = rfid('GOOD')
  it.each([
    ['an empty tag', [{}], [required('tags[0].tag_type'), required('tags[0].value')]],
    ['a tag without a type', [{ value: 'x' }], [required('tags[0].tag_type')]],
    ['a tag without a value', [good, { tag_type: 'ble' }], [required('tags[1].value')]],
    ['an empty value', [good, good, rfid('')], [tooShort('tags[2].value')]],
    ['a null value', [{ tag_type: 'rfid', value: null }], [wrongType('tags[0].value', 'string', 'null')]],
    ['a value that is a number', [{ tag_type: 'rfid', value: 7 }], [wrongType('tags[0].value', 'string', 'integer')]],
    ['a type that is none', [{ tag_type: 'qr', value: 'x' }], [invalidValue('tags[0].tag_type')]],
    ['a type in capitals', [{ tag_type: 'RFID', value: 'x' }], [invalidValue('tags[0].tag_type')]],
    ['a null type', [{ tag_type: null, value: 'x' }], [wrongType('tags[0].tag_type', 'string', 'null')]],
    ['a text for a tag', [good, 'E280'], [wrongType('tags[1]', 'object', 'string')]],
    ['null for a tag', [null], [wrongType('tags[0]', 'object', 'null')]],
    ['a list for a tag', [[]], [wrongType('tags[0]', 'object', 'array')]],
    ['an id', [{ ...good, id: 7 }], [unknownField('tags[0].id')]],
    [
      'keys a tag does not have',
      [{ type: 'rfid', is_active: true, value: 'x' }],
      [unknownField('tags[0].is_active'), unknownField('tags[0].type')],
    ],
    [
      'several wrong leaves',
      [rfid(''), { tag_type: 'qr', value: 'a\nb' }],
      [tooShort('tags[0].value'), invalidValue('tags[1].tag_type'), invalidValue('tags[1].value')],
    ],
  ])('with %s are rejected with the path of the leaf, and nothing is created (D17)', async (_what, tags, problems) => {
    expectValidationError(await fixtures.own.expectNoChange(() => fixtures.own.post({ name: 'a', tags })), ...problems)
  })
})
