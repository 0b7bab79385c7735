import { describe, expect, it } from 'vitest'
import { useApp } from '../../../support/app.ts'
import { assetsPath, assetPath, useAssetFixtures } from '../../../support/assets.ts'
import { expectValidationError, wrongType } from '../../../support/validation-errors.ts'

const fixtures = useAssetFixtures(useApp())

/** JSON as text, so that the test client cannot normalize it. */
async function merged(before: string, patch: string): Promise<string> {
  const created = await fixtures.own.client.send('POST', assetsPath, {
    raw: `{"name":"a","metadata":${before}}`,
    headers: { 'content-type': 'application/json' },
  })
  expect(created.status, created.text).toBe(201)
  const path = assetPath(created.json.data)
  const patched = await fixtures.own.client.send('PATCH', path, {
    raw: `{"metadata":${patch}}`,
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  expect(patched.status, patched.text).toBe(200)
  expect((await fixtures.own.client.get(path)).text).toBe(patched.text)
  return JSON.stringify(patched.json.data.metadata)
}

describe('merging metadata', () => {
  it.each([
    // The cases of RFC 7396, appendix A, as far as both sides are objects.
    ['replaces a member', '{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['adds a member', '{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['removes a member that is null', '{"a":"b"}', '{"a":null}', '{}'],
    ['leaves the other members alone', '{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['puts a text over a list', '{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['puts a list over a text', '{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['merges inner objects', '{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['replaces a list as a whole', '{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['keeps a null that was stored and not mentioned', '{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['puts an object over a text', '{"a":"foo"}', '{"a":{"b":1}}', '{"a":{"b":1}}'],
    ['makes inner objects without their nulls', '{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
    ['keeps nulls inside a list', '{"a":1}', '{"a":[null,{"b":null}]}', '{"a":[null,{"b":null}]}'],
    ['with nothing changes nothing', '{"a":{"b":[1,2]}}', '{}', '{"a":{"b":[1,2]}}'],
    ['with an empty inner object changes nothing there', '{"a":{"b":1}}', '{"a":{}}', '{"a":{"b":1}}'],
    ['puts an empty object over a text', '{"a":"x"}', '{"a":{}}', '{"a":{}}'],
    ['removes deep down', '{"a":{"b":{"c":1,"d":2}}}', '{"a":{"b":{"c":null}}}', '{"a":{"b":{"d":2}}}'],
    ['ignores the removal of what is not there', '{"a":1}', '{"b":null,"c":{"d":null}}', '{"a":1,"c":{}}'],
    [
      'distinguishes false, 0 and "" from null',
      '{"a":1,"b":1,"c":1}',
      '{"a":false,"b":0,"c":""}',
      '{"a":false,"b":0,"c":""}',
    ],
    ['takes an empty key', '{"":1}', '{"":{"":2}}', '{"":{"":2}}'],
    ['is exact about keys', '{"A":1,"a b":2}', '{"a":3,"a b ":4}', '{"A":1,"a b":2,"a":3,"a b ":4}'],
    ['takes __proto__ as a key', '{"__proto__":{"a":1}}', '{"__proto__":{"b":2}}', '{"__proto__":{"a":1,"b":2}}'],
    ['adds __proto__ as a key', '{"a":1}', '{"__proto__":{"isAdmin":true}}', '{"a":1,"__proto__":{"isAdmin":true}}'],
    ['adds __proto__ deep down', '{"a":{}}', '{"a":{"__proto__":5}}', '{"a":{"__proto__":5}}'],
    ['removes __proto__', '{"__proto__":1,"a":2}', '{"__proto__":null}', '{"a":2}'],
    [
      'takes constructor and toString as keys',
      '{}',
      '{"constructor":{"a":1},"toString":2}',
      '{"constructor":{"a":1},"toString":2}',
    ],
  ])('%s (D16)', async (_what, before, patch, after) => {
    expect(await merged(before, patch)).toBe(after)
  })

  it('does not pollute object prototypes', async () => {
    await merged('{}', '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect((await fixtures.own.create()).metadata).toStrictEqual({})
  })

  it('accumulates over several PATCHes, and a PATCH without metadata does not change it', async () => {
    const asset = await fixtures.own.create({ metadata: { a: { x: 1 } } })
    await fixtures.own.patch(asset, { metadata: { a: { y: 2 } } })
    await fixtures.own.patch(asset, { name: 'New' })
    await fixtures.own.patch(asset, { metadata: { b: 3, a: { x: null } } })
    expect((await fixtures.own.read(asset)).metadata).toStrictEqual({ a: { y: 2 }, b: 3 })
  })

  it.each([
    ['null', null, 'null'],
    ['a list', [], 'array'],
    ['a text', '{}', 'string'],
  ])('with %s in place of an object is rejected and changes nothing (D16)', async (_what, metadata, received) => {
    const asset = await fixtures.own.create({ metadata: { a: 1 } })
    const reply = await fixtures.own.expectNoChange(() => fixtures.own.patch(asset, { metadata }))
    expectValidationError(reply, wrongType('metadata', 'object', received))
  })
})

describe('metadata on create', () => {
  it.each([
    ['nothing', '{}'],
    ['nulls, which a create does not remove', '{"a":null,"b":{"c":null}}'],
    ['nested lists', '{"a":[[],[[1,[2]]],{"b":[]}]}'],
    ['numbers', '{"a":0.1,"b":-5,"c":9007199254740991,"d":1e-7}'],
    ['text beyond the basic plane', '{"😀":"👩🏽‍🚒","é":"e\u0301"}'],
    ['__proto__', '{"__proto__":{"a":{"__proto__":1}}}'],
    ['the names of fields', '{"name":"x","tags":[],"id":1}'],
    ['keys that look like paths', '{"a.b":1,"a[0]":2,"/a/b":3,"$ref":"#/x"}'],
  ])('keeps %s', async (_what, metadata) => {
    const reply = await fixtures.own.client.send('POST', assetsPath, {
      raw: `{"name":"a","metadata":${metadata}}`,
      headers: { 'content-type': 'application/json' },
    })
    expect(reply.status, reply.text).toBe(201)
    expect(JSON.stringify(reply.json.data.metadata)).toBe(metadata)
    expect((await fixtures.own.client.get(assetPath(reply.json.data))).text).toBe(reply.text)
  })
})
