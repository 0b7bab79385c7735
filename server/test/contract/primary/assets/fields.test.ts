import { describe, expect, it } from 'vitest'
import { useApp } from '../../../support/app.ts'
import { type AssetFixture, type AssetJson, assetPath, useAssetFixtures } from '../../../support/assets.ts'
import type { Reply } from '../../../support/client.ts'
import {
  type FieldError,
  expectValidationError,
  invalidValue,
  tooLong,
  tooShort,
  wrongType,
} from '../../../support/validation-errors.ts'

const fixtures = useAssetFixtures(useApp())

/** An organization with one asset. */
interface Fixture {
  org: AssetFixture
  asset: AssetJson
}

/** A text field: how it is written, the field of its errors, and how it is read back. */
interface TextField {
  write(on: Fixture, text: unknown): Promise<Reply>
  field: string
  shown(asset: AssetJson): unknown
}

const onCreate =
  (body: (text: unknown) => object): TextField['write'] =>
  ({ org }, text) =>
    org.post({ name: 'Pallet jack', ...body(text) })

const onPatch =
  (body: (text: unknown) => object): TextField['write'] =>
  ({ org, asset }, text) =>
    org.patch(asset, body(text))

const lastTag = (asset: AssetJson): unknown => asset.tags.at(-1)?.value
const note = (asset: AssetJson): unknown => asset.metadata['note']

const textFields: Record<string, TextField> = {
  'the key of a new asset': {
    write: onCreate((text) => ({ external_key: text })),
    field: 'external_key',
    shown: (asset) => asset.external_key,
  },
  'the key in a rename': {
    write: ({ org, asset }, text) => org.client.post(`${assetPath(asset)}/rename`, { external_key: text }),
    field: 'external_key',
    shown: (asset) => asset.external_key,
  },
  'the name of a new asset': {
    write: onCreate((text) => ({ name: text })),
    field: 'name',
    shown: (asset) => asset.name,
  },
  'the name in a PATCH': { write: onPatch((text) => ({ name: text })), field: 'name', shown: (asset) => asset.name },
  'the tag of a new asset': {
    write: onCreate((text) => ({ tags: [{ tag_type: 'barcode', value: text }] })),
    field: 'tags[0].value',
    shown: lastTag,
  },
  'a tag that is attached': {
    write: ({ org, asset }, text) => org.client.post(`${assetPath(asset)}/tags`, { tag_type: 'barcode', value: text }),
    field: 'value',
    shown: lastTag,
  },
  'the description of a new asset': {
    write: onCreate((text) => ({ description: text })),
    field: 'description',
    shown: (asset) => asset.description,
  },
  'the description in a PATCH': {
    write: onPatch((text) => ({ description: text })),
    field: 'description',
    shown: (asset) => asset.description,
  },
  'the metadata of a new asset': {
    write: onCreate((text) => ({ metadata: { note: text } })),
    field: 'metadata.note',
    shown: note,
  },
  'the metadata in a PATCH': {
    write: onPatch((text) => ({ metadata: { note: text } })),
    field: 'metadata.note',
    shown: note,
  },
}

const names = Object.keys(textFields)
const described = names.filter((name) => name.includes('description'))
const free = names.filter((name) => name.includes('metadata'))
const bounded255 = names.filter((name) => !described.includes(name) && !free.includes(name))

const pairs = <T>(where: string[], what: T[]): [string, T][] =>
  where.flatMap((name) => what.map((one): [string, T] => [name, one]))

const fixturesByField = new Map<string, Promise<Fixture>>()

async function newFixture(): Promise<Fixture> {
  const org = await fixtures.another()
  return { org, asset: await org.create() }
}

/** The fields do not share unique keys and tags, so the same text can be written to each. */
function fixtureOf(name: string): Promise<Fixture> {
  const fixture = fixturesByField.get(name) ?? newFixture()
  fixturesByField.set(name, fixture)
  return fixture
}

async function takes(name: string, text: string): Promise<void> {
  const textField = textFields[name]!
  const fixture = await fixtureOf(name)
  const reply = await textField.write(fixture, text)
  expect([200, 201], reply.text).toContain(reply.status)
  const asset: { id: number } = name.startsWith('a tag') ? fixture.asset : reply.json.data
  expect(textField.shown(await fixture.org.read(asset))).toBe(text)
}

async function expectRejected(name: string, text: string, problem: (field: string) => FieldError): Promise<void> {
  const textField = textFields[name]!
  const fixture = await fixtureOf(name)
  const reply = await fixture.org.expectNoChange(() => textField.write(fixture, text))
  expectValidationError(reply, problem(textField.field))
}

const forbidden = ['\u0000', '\u0001', '\u0008', '\u000b', '\u001f', '\u007f', '\ud83d', '\ude00', '\ude00\ud83d']
const breaks = ['\t', '\n', '\r']
const escaped = (text: string): string =>
  Array.from(
    { length: text.length },
    (_, at) => `U+${text.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0')}`,
  ).join(' ')

const table = (where: string[], texts: string[]): [string, string, string][] =>
  where.flatMap((name) => texts.map((text): [string, string, string] => [escaped(text), name, text]))

const oneLine = names.filter((name) => !described.includes(name))

describe('a control character or lone surrogate', () => {
  it.each(table(names, forbidden))('%s is rejected in %s (D13)', (_shown, name, text) =>
    expectRejected(name, `a${text}b`, invalidValue),
  )

  it.each(table(oneLine, breaks))('%s is rejected in %s, which is a single line (D13)', (_shown, name, text) =>
    expectRejected(name, `a${text}b`, invalidValue),
  )

  it.each(described)('is not a tab or a line break in %s (D13)', (name) => takes(name, 'one\ttwo\nthree\r\nfour\r'))

  it.each([
    ['a key', { 'a\u0000b': 1 }],
    ['a deep key', { a: [{ 'b\u007f': 1 }] }],
    ['a deep key with half a character', { a: { '\ud800': 1 } }],
    ['a deep value', { a: [1, { b: ['ok', 'not\u001fok'] }] }],
    ['a deep value with half a character', { a: { b: '\udfff' } }],
    ['a line break', { a: { b: 'one\ntwo' } }],
  ])('is rejected in metadata as %s, on create and on PATCH (D13)', async (_what, metadata) => {
    const { org, asset } = await fixtureOf('metadata')
    for (const write of [() => org.post({ name: 'a', metadata }), () => org.patch(asset, { metadata })]) {
      const reply = await org.expectNoChange(write)
      const [entry] = reply.json.error.fields
      expect(entry.field).toMatch(/^metadata($|\.|\[)/)
      expectValidationError(reply, invalidValue(entry.field))
    }
  })
})

describe('text', () => {
  const odd = {
    'separators of addresses': 'a/b%2Fc?d#e&f=g\\h',
    'dots alone': '..',
    'blanks around it': '  a  b  ',
    'one blank': ' ',
    'quotes and markup': `'"<b>;--`,
    emoji: '👩🏽‍🚒 ¼',
    'a combining accent': 'e\u0301',
    'a C1 control': 'a\u0085b',
    'a line separator': 'a\u2028b',
    'a noncharacter': 'a\uffffb\u{10ffff}',
    'a byte order mark': '\ufeffa',
    'right-to-left marks': '\u202eabc',
  }
  const oddTable = names.flatMap((name) => Object.entries(odd).map(([shown, text]) => [shown, name, text] as const))
  it.each(oddTable)('with %s is stored unchanged in %s (D13)', (_shown, name, text) => takes(name, text))

  it.each(pairs(bounded255, ['x', '😀', 'e\u0301']))(
    'of 255 characters fits in %s, counted in code points of %s (D13)',
    async (name, unit) => {
      const points = Array.from(unit).length
      const most = unit.repeat(Math.floor(255 / points)) + 'x'.repeat(255 % points)
      await takes(name, most)
      await expectRejected(name, `${most}x`, (field) => tooLong(field, 255))
    },
  )

  it.each(pairs(described, ['x', '😀', '\n']))(
    'of 1024 characters fits in %s, counted in code points of %j (D13)',
    async (name, unit) => {
      await takes(name, unit.repeat(1024))
      await expectRejected(name, unit.repeat(1025), (field) => tooLong(field, 1024))
    },
  )

  it.each(bounded255)('that is empty is too short for %s (D14)', (name) => expectRejected(name, '', tooShort))

  it.each([...described, ...free])('may be empty in %s (D11)', (name) => takes(name, ''))
})

const values: [string, unknown][] = [
  ['boolean', true],
  ['integer', 7],
  ['number', 7.5],
  ['string', 'text'],
  ['array', []],
  ['object', {}],
  ['null', null],
]

describe('a value of another JSON type', () => {
  const fields: [field: string, expected: string, takesNull: boolean, onPatch: boolean][] = [
    ['external_key', 'string', false, false],
    ['name', 'string', false, true],
    ['description', 'string', true, true],
    ['metadata', 'object', false, true],
    ['is_active', 'boolean', false, true],
    ['valid_from', 'string', false, true],
    ['valid_to', 'string', true, true],
    ['tags', 'array', false, false],
  ]
  const types = fields.flatMap(([field, expected, takesNull, patched]) =>
    values
      .filter(([received]) => received !== expected && !(takesNull && received === 'null'))
      .map(([received, value]) => [received, field, expected, value, patched] as const),
  )
  it.each(types)(
    '%s is rejected for %s, which is of type %s (D14)',
    async (received, field, expected, value, patched) => {
      const body = { name: 'a', [field]: value }
      const { org, asset } = await fixtureOf('metadata')
      const problem = wrongType(field, expected, received)
      expectValidationError(await org.expectNoChange(() => org.post(body)), problem)
      if (patched) expectValidationError(await org.expectNoChange(() => org.patch(asset, body)), problem)
    },
  )

  it('is reported as integer for a number without a fraction, however it was written (D14)', async () => {
    const headers = { 'content-type': 'application/json' }
    const reply = await fixtures.own.client.send('POST', '/api/v1/assets', { raw: '{"name": 5.0e1}', headers })
    expectValidationError(reply, wrongType('name', 'string', 'integer'))
  })

  it('is never coerced', async () => {
    for (const is_active of ['true', 1, 0, ''])
      expect((await fixtures.own.post({ name: 'a', is_active })).status).toBe(400)
  })

  it('is reported for every null in a field that is not nullable, in the order of the field table (D7)', async () => {
    const body = { tags: null, valid_from: null, is_active: null, metadata: null, name: null, external_key: null }
    expectValidationError(
      await fixtures.own.post(body),
      wrongType('external_key', 'string', 'null'),
      wrongType('name', 'string', 'null'),
      wrongType('metadata', 'object', 'null'),
      wrongType('is_active', 'boolean', 'null'),
      wrongType('valid_from', 'string', 'null'),
      wrongType('tags', 'array', 'null'),
    )
  })
})
