import fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { useApp } from '../../server/test/support/app.ts'
import { type Lastseen, StaleError, ValidationError, applyMergePatch, mergePatch } from '../src/index.ts'
import { SleepClock, newClient, rejection } from './support/clients.ts'
import { useProxy } from './support/proxy.ts'

const context = useApp()
const proxy = useProxy()
let client: Lastseen

beforeAll(async () => {
  ;({ client } = await newClient(await context.app.newOrg(), { baseUrl: proxy.url, clock: new SleepClock() }))
})
beforeEach(() => {
  proxy.reset()
  proxy.target = context.app.url
})

describe('mergePatch', () => {
  it.each([
    ['nothing', { a: 1, b: { c: [1] } }, { a: 1, b: { c: [1] } }, {}],
    ['a changed member', { a: 1, b: 2 }, { a: 1, b: 3 }, { b: 3 }],
    ['a new member', {}, { a: { b: 1 } }, { a: { b: 1 } }],
    ['a removed member', { a: 1, b: 2 }, { b: 2 }, { a: null }],
    ['a cleared member', { a: 'x' }, { a: null }, { a: null }],
    ['a member that was null already', { a: null }, {}, {}],
    [
      'only the leaf of a tree',
      { m: { x: { y: 1, z: 2 }, w: 3 } },
      { m: { x: { y: 1 }, w: 3 } },
      { m: { x: { z: null } } },
    ],
    ['a list as a whole', { a: [1, { b: null }] }, { a: [1, { b: null }, 2] }, { a: [1, { b: null }, 2] }],
    ['an object that replaces a list', { a: [1] }, { a: { b: 1, c: null } }, { a: { b: 1 } }],
    [
      'members named like those of every object',
      { constructor: 1 },
      { toString: 2 },
      { constructor: null, toString: 2 },
    ],
  ])('contains %s', (_case, before, after, patch) => {
    expect(mergePatch(before, after)).toEqual(patch)
  })

  it('turns any value into any other (RFC 7396)', () => {
    const json = fc.jsonValue({ maxDepth: 4 })
    const object = fc.dictionary(fc.oneof(fc.constantFrom('a', 'b', '__proto__', 'constructor'), fc.string()), json)
    const normalized = (value: unknown): unknown => applyMergePatch({}, value)
    fc.assert(
      fc.property(object, object, (before, after) => {
        const result = applyMergePatch(normalized(before), mergePatch(normalized(before) as object, after))
        expect(JSON.stringify(sorted(result))).toBe(JSON.stringify(sorted(normalized(after))))
      }),
      { numRuns: 500 },
    )
  })
})

/** The members of all objects in alphabetical order. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return entries.map(([key, member]) => [key, sorted(member)])
}

describe('optimistic concurrency', () => {
  it('rejects a patch that is based on an older version, and changes nothing', async () => {
    const asset = await client.assets.create({ name: 'Drill' })
    const theirs = await client.assets.patch(asset.id, { name: 'Hammer drill' })
    const error = (await rejection(
      client.assets.patch(asset.id, { name: 'Screwdriver', updated_at: asset.updated_at }),
    )) as StaleError
    expect(error).toBeInstanceOf(StaleError)
    expect(error).toBeInstanceOf(ValidationError)
    expect(error.fields).toMatchObject([{ field: 'updated_at', code: 'read_only' }])
    expect(await client.assets.get(asset.id)).toEqual(theirs)
  })

  it('lets the changes of concurrent updates all take effect', async () => {
    const { id } = await client.assets.create({ name: 'Counter', metadata: { count: 0, by: {} } })
    const increment = (writer: string) =>
      client.assets.update(
        id,
        (draft) => {
          const { count, by } = draft.metadata as { count: number; by: object }
          draft.metadata = { count: count + 1, by: { ...by, [writer]: true } }
        },
        { attempts: 10 },
      )
    await Promise.all(['a', 'b', 'c', 'd'].map(increment))
    const { metadata } = await client.assets.get(id)
    expect(metadata).toEqual({ count: 4, by: { a: true, b: true, c: true, d: true } })
    const patches = proxy.calls.filter(({ method }) => method === 'PATCH')
    expect(patches.filter(({ status }) => status === 200)).toHaveLength(4)
    expect(patches.length).toBeGreaterThan(4)
  })

  it('sends the smallest patch without reading a known record again, and nothing when nothing changed', async () => {
    const hall = await client.locations.create({ name: 'Hall', description: 'cold' })
    proxy.reset()
    const changed = await client.locations.update(hall, (draft) => {
      draft.description = null
    })
    expect(changed.description).toBeNull()
    expect(await client.locations.update(changed, () => undefined)).toBe(changed)
    expect(proxy.calls.map(({ method, body }) => [method, body])).toEqual([
      ['PATCH', { description: null, updated_at: hall.updated_at }],
    ])
  })

  it('gives up after the given number of attempts', async () => {
    const asset = await client.assets.create({ name: 'Busy' })
    const change = async (draft: { name: string }): Promise<void> => {
      await client.assets.patch(asset.id, {})
      draft.name = 'Mine'
    }
    expect(await rejection(client.assets.update(asset, change, { attempts: 3 }))).toBeInstanceOf(StaleError)
    expect((await client.assets.get(asset.id)).name).toBe('Busy')
  })

  it('does not apply a change twice that was executed before a 500', async () => {
    const asset = await client.assets.create({ name: 'Counter', metadata: { count: 0 } })
    let failures = 1
    proxy.intercept = ({ method }) =>
      method === 'PATCH' && failures-- > 0 ? { status: 500, forward: true } : undefined
    const counted = await client.assets.update(asset, (draft) => {
      draft.metadata['count'] = (draft.metadata['count'] as number) + 1
    })
    expect(counted.metadata).toEqual({ count: 1 })
    expect(proxy.calls.filter(({ method }) => method === 'PATCH')).toHaveLength(2)
  })
})
