import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../../support/app.ts'
import type { Client, Reply } from '../../../support/client.ts'
import {
  type LocationJson,
  type FieldError,
  create,
  expectValidationError,
  expectErrorStatus,
  keysOf,
  remove,
} from '../../../support/master-data.ts'
import { propertyRuns } from '../../../support/rounds.ts'

const context = useApp()
let org: TestOrg
let client: Client

beforeAll(async () => {
  org = await context.app.newOrg()
  client = org.full
})

type TreeRelation = 'ancestors' | 'children' | 'descendants'
const relations: [TreeRelation][] = [['ancestors'], ['children'], ['descendants']]

const related = (of: { id: number }, which: TreeRelation, query?: string, who = client): Promise<Reply> =>
  who.get(`/api/v1/locations/${of.id}/${which}`, query)

async function createChild(
  parent: LocationJson | null,
  key: string,
  body: object = {},
  who = client,
): Promise<LocationJson> {
  const under = parent === null ? {} : { parent_id: parent.id }
  return create(who, 'locations', { external_key: key, name: key, ...under, ...body })
}

const expectPage = (reply: Reply, data: unknown[], total = data.length): void => {
  expect(reply.status, reply.text).toBe(200)
  expect(reply.json).toEqual({ data, limit: 50, offset: 0, total_count: total })
}

describe('tree reads (D3)', () => {
  it.each(relations)('%s of a root without children are an empty list', async (which) => {
    const lone = await createChild(null, `LONE-${which}`)
    expectPage(await related(lone, which), [])
  })

  it('ancestors run from the root down to the parent, whole records', async () => {
    const top = await createChild(null, 'A-TOP', { tags: [{ tag_type: 'barcode', value: 'A-TOP' }] })
    const middle = await createChild(top, 'Z-MIDDLE')
    const low = await createChild(middle, 'B-LOW')
    const leaf = await createChild(low, 'A-LEAF')
    await createChild(middle, 'ASIDE')
    expectPage(await related(leaf, 'ancestors'), [top, middle, low])
    expectPage(await related(middle, 'ancestors'), [top])
    expectPage(await related(top, 'ancestors'), [])
  })

  it('children are ordered by name in code point order, then by id, and are one level only', async () => {
    const top = await createChild(null, 'BY-NAME')
    const names = ['Zeta', 'alpha', 'Ärger', 'alpha', '￥', '😀', '10', '9', ' blank', 'alpha']
    const made: LocationJson[] = []
    for (const [index, name] of names.entries()) made.push(await createChild(top, `N-${9 - index}`, { name }))
    await createChild(made[0]!, 'GRANDCHILD', { name: 'AAA' })
    const order = [' blank', '10', '9', 'Zeta', 'alpha', 'alpha', 'alpha', 'Ärger', '￥', '😀']
    const expected = order.map((name, at) => {
      const same = made.filter((one) => one.name === name).sort((a, b) => a.id - b.id)
      return same[at - order.indexOf(name)]
    })
    expectPage(await related(top, 'children'), expected)
  })

  it('descendants run depth-first, siblings by external_key in code point order', async () => {
    const top = await createChild(null, 'BY-KEY')
    const a = await createChild(top, 'A', { name: 'last' })
    const bang = await createChild(top, 'A!', { name: 'first' })
    const z = await createChild(a, 'Z')
    const zz = await createChild(z, '0')
    const lower = await createChild(top, 'a')
    const wide = await createChild(top, '￥')
    const emoji = await createChild(top, '😀')
    const beside = await createChild(a, 'Y')
    expectPage(await related(top, 'descendants'), [a, beside, z, zz, bang, lower, wide, emoji])
    expectPage(await related(a, 'descendants'), [beside, z, zz])
    expectPage(await related(zz, 'descendants'), [])
  })

  it('include inactive locations and those outside their validity, and never deleted ones (D15)', async () => {
    const top = await createChild(null, 'SHUT', { is_active: false })
    const early = await createChild(top, 'SHUT-1', { valid_from: '2999-01-01T00:00:00Z' })
    const late = await createChild(early, 'SHUT-2', {
      valid_from: '2001-01-01T00:00:00Z',
      valid_to: '2001-01-02T00:00:00Z',
    })
    const gone = await createChild(early, 'SHUT-3')
    await remove(client, 'locations', gone.id)
    const leaf = await createChild(late, 'SHUT-4')
    expectPage(await related(leaf, 'ancestors'), [top, early, late])
    expectPage(await related(early, 'children'), [late])
    expectPage(await related(top, 'descendants'), [early, late, leaf])
  })

  it('follow a move at once', async () => {
    const [here, there] = [await createChild(null, 'HERE'), await createChild(null, 'THERE')]
    const moved = await createChild(here, 'MOVED')
    const below = await createChild(moved, 'BELOW')
    await client.patch(`/api/v1/locations/${moved.id}`, { parent_id: there.id })
    expect(keysOf(await related(here, 'descendants'))).toEqual([])
    expect(keysOf(await related(there, 'descendants'))).toEqual(['MOVED', 'BELOW'])
    expect(keysOf(await related(below, 'ancestors'))).toEqual(['THERE', 'MOVED'])
  })

  it('answer HEAD with no body and need locations:read', async () => {
    const lone = await createChild(null, 'SCOPED')
    for (const [which] of relations) {
      const target = `/api/v1/locations/${lone.id}/${which}`
      const head = await client.send('HEAD', target)
      expect([head.status, head.text]).toEqual([200, ''])
      const rejected = await org.client('locations:write', 'assets:read', 'tracking:read').get(target)
      expectErrorStatus(rejected, 403)
      expect(rejected.json.error.detail).toBe('Missing required scope: locations:read')
    }
  })
})

describe('tree reads of a chain of 61 levels', () => {
  let chain: LocationJson[]

  beforeAll(async () => {
    chain = [await createChild(null, 'L-00')]
    for (let level = 1; level <= 60; level++)
      chain.push(await createChild(chain.at(-1)!, `L-${String(level).padStart(2, '0')}`))
  })

  it('page through all ancestors and all descendants with the same total on every page', async () => {
    const keys = chain.map((one) => one.external_key)
    for (const [which, from, all] of [
      ['ancestors', chain.at(-1)!, keys.slice(0, -1)],
      ['descendants', chain[0]!, keys.slice(1)],
    ] as const) {
      const first = await related(from, which)
      expect(first.json).toMatchObject({ limit: 50, offset: 0, total_count: 60 })
      expect(keysOf(first)).toEqual(all.slice(0, 50))
      const rest = await related(from, which, 'limit=50&offset=50')
      expect(rest.json).toMatchObject({ limit: 50, offset: 50, total_count: 60 })
      expect(keysOf(rest)).toEqual(all.slice(50))
      expect(keysOf(await related(from, which, 'limit=200'))).toEqual(all)
      expect(keysOf(await related(from, which, 'limit=3&offset=7'))).toEqual(all.slice(7, 10))
      const past = await related(from, which, 'offset=60')
      expect(past.json).toEqual({ data: [], limit: 50, offset: 60, total_count: 60 })
      const far = await related(from, which, 'offset=99999999999999999999')
      expect([far.status, far.json.data, far.json.total_count]).toEqual([200, [], 60])
    }
  })

  it('agree with the count of a rename', async () => {
    const reply = await client.post(`/api/v1/locations/${chain[0]!.id}/rename`, { external_key: 'L-ROOT' })
    expect(reply.json.data.descendant_count_affected).toBe(60)
  })

  it('whose root cannot be moved under its lowest location (D23)', async () => {
    expectErrorStatus(await client.patch(`/api/v1/locations/${chain[0]!.id}`, { parent_id: chain.at(-1)!.id }), 409)
  })
})

describe.each(relations)('parameters of %s', (which) => {
  let lone: LocationJson
  beforeAll(async () => {
    lone = await createChild(null, `PARAMETERS-${which}`)
  })

  const cases: [query: string, ...problems: FieldError[]][] = [
    ['limit=0', ['limit', 'too_small', { min: 1 }]],
    ['limit=201', ['limit', 'too_large', { max: 200 }]],
    ['limit=ten', ['limit', 'invalid_value']],
    ['limit=5&limit=5', ['limit', 'invalid_value']],
    ['offset=-1', ['offset', 'too_small', { min: 0 }]],
    ['offset=1.5', ['offset', 'invalid_value']],
    ['sort=name', ['sort', 'unknown_field']],
    ['q=a', ['q', 'unknown_field']],
    ['external_key=A', ['external_key', 'unknown_field']],
    ['is_active=true', ['is_active', 'unknown_field']],
    ['include_deleted=true', ['include_deleted', 'unknown_field']],
    ['parent_id=1', ['parent_id', 'unknown_field']],
    ['parent_external_key=A', ['parent_external_key', 'unknown_field']],
    ['colour=red', ['colour', 'unknown_field']],
    ['q=a&limit=0&colour=red', ['q', 'unknown_field'], ['limit', 'too_small', { min: 1 }], ['colour', 'unknown_field']],
  ]
  it.each(cases)('reject %s, because only limit and offset exist (D3, D27)', async (query, ...problems) => {
    expectValidationError(await related(lone, which, query), ...problems)
  })
})

it('tree reads of any tree equal the order computed from its parts (D3)', async () => {
  const pieces = fc.array(
    fc.record({
      parent: fc.nat(),
      name: fc.constantFrom('b', 'B', 'bb', 'ä'),
      key: fc.string({ maxLength: 3, unit: fc.constantFrom('a', 'B', '/', '-', 'é', '￥', '😀') }),
    }),
    { minLength: 1, maxLength: 14 },
  )
  const byCodePoint = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
  let run = 0
  await fc.assert(
    fc.asyncProperty(pieces, async (plan) => {
      run++
      const nodes: LocationJson[] = []
      for (const [index, { parent, name, key }] of plan.entries()) {
        const over = index === 0 ? null : nodes[parent % index]!
        nodes.push(await createChild(over, `${key}·${index}·${run}`, { name }))
      }
      const children = (of: LocationJson): LocationJson[] => nodes.filter((one) => one.parent_id === of.id)
      const below = (of: LocationJson): LocationJson[] =>
        children(of)
          .sort((a, b) => byCodePoint(a.external_key, b.external_key))
          .flatMap((one) => [one, ...below(one)])
      const above = (of: LocationJson): LocationJson[] => {
        const parent = nodes.find((one) => one.id === of.parent_id)
        return parent === undefined ? [] : [...above(parent), parent]
      }
      for (const node of [nodes[0]!, nodes[Math.floor(nodes.length / 2)]!, nodes.at(-1)!]) {
        expectPage(await related(node, 'ancestors'), above(node))
        expectPage(
          await related(node, 'children'),
          children(node).sort((a, b) => byCodePoint(a.name, b.name) || a.id - b.id),
        )
        expectPage(await related(node, 'descendants'), below(node))
      }
    }),
    { numRuns: propertyRuns(20) },
  )
})
