import { beforeAll, describe, expect, it } from 'vitest'
import { assetRepository, assetWithLocationRepository } from '../../src/assets/assets.sql.ts'
import { createAsset } from '../../src/assets/commands.ts'
import type { Db } from '../../src/db/database.ts'
import { createLocation } from '../../src/locations/commands.ts'
import { locationRepository, locationWithPathRepository } from '../../src/locations/locations.sql.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { useAppContext } from '../support/app-context.ts'

const eventLoopTick = (): Promise<void> => new Promise((resume) => setImmediate(resume))

describe('Records that are loaded in the same event-loop tick', () => {
  const used = useAppContext()
  const organizations: number[] = []
  /** Three assets with two tags each, for each organization. */
  const assets: number[][] = []
  let statements = 0
  let broken: Error | null = null

  const db: Db = {
    query: async (statement) => {
      statements++
      if (broken !== null) throw broken
      return used.context.db.read.query(statement)
    },
  }
  const draft = (name: string) => ({
    ...{ name, description: null, isActive: true, validTo: null },
    tags: ['E200', 'E201'].map((start) => ({ type: 'rfid' as const, value: start + name })),
  })

  beforeAll(async () => {
    for (const name of ['one', 'two']) {
      const { orgId } = await createOrganization(used.context, name)
      organizations.push(orgId)
      const ids: number[] = []
      for (const letter of ['A', 'B', 'C'])
        ids.push((await createAsset(used.context, orgId, { ...draft(name + letter), type: 'asset', metadata: {} })).id)
      assets.push(ids)
    }
  })

  it('are loaded by one statement, each with its own tags in their order', async () => {
    statements = 0
    const [orgId, ids] = [organizations[0]!, assets[0]!]
    const found = await Promise.all(ids.map((id) => assetRepository.load(db, orgId, id)))
    expect(statements).toBe(1)
    expect(found.map((asset) => asset?.id)).toEqual(ids)
    expect(found.map((asset) => asset?.tags.map(({ value }) => value))).toEqual(
      ['A', 'B', 'C'].map((letter) => [`E200one${letter}`, `E201one${letter}`]),
    )
    expect(found).toEqual(await Promise.all(ids.map((id) => assetRepository.find(db, orgId, id))))
  })

  it('are null where no record exists, and two loads of one id get the same record', async () => {
    statements = 0
    const [orgId, [first]] = [organizations[0]!, assets[0]!]
    const ask = (id: number) => assetRepository.load(db, orgId, id)
    const [one, none, again] = await Promise.all([ask(first!), ask(1), ask(first!)])
    expect(statements).toBe(1)
    expect(none).toBeNull()
    expect(one?.id).toBe(first)
    expect(again).toEqual(one)
  })

  it('are loaded per organization, and no record of another organization is found', async () => {
    statements = 0
    const [mine, theirs] = [assets[0]![0]!, assets[1]![0]!]
    const found = await Promise.all([
      assetRepository.load(db, organizations[0]!, mine),
      assetRepository.load(db, organizations[1]!, theirs),
      assetRepository.load(db, organizations[0]!, theirs),
      assetRepository.load(db, organizations[1]!, mine),
    ])
    expect(statements).toBe(2)
    expect(found.map((asset) => asset?.id)).toEqual([mine, theirs, undefined, undefined])
  })

  it('are at most thirty-two per statement', async () => {
    statements = 0
    const loads = Array.from({ length: 130 }, () => assetRepository.load(db, organizations[0]!, assets[0]![0]!))
    const found = await Promise.all(loads)
    expect(statements).toBe(5)
    expect(new Set(found.map((asset) => asset?.id))).toEqual(new Set([assets[0]![0]]))
  })

  it('all fail when the statement fails, and later loads do not', async () => {
    broken = new Error('gone')
    const loads = assets[0]!.map((id) => assetRepository.load(db, organizations[0]!, id))
    const outcomes = await Promise.allSettled(loads)
    broken = null
    expect(outcomes.map((one) => (one.status === 'rejected' ? (one.reason as Error).message : one))).toEqual([
      'gone',
      'gone',
      'gone',
    ])
    expect((await assetRepository.load(db, organizations[0]!, assets[0]![1]!))?.id).toBe(assets[0]![1])
  })

  it('do not join a statement in flight, so a load after a write sees the write', async () => {
    const [orgId, id] = [organizations[0]!, assets[0]![2]!]
    const before = assetRepository.load(db, orgId, id)
    await eventLoopTick()
    statements = 0
    await Promise.all([before, assetRepository.load(db, orgId, id)])
    expect(statements).toBe(1)
  })

  it('equal records loaded one by one, in every read of assets and locations', async () => {
    const orgId = organizations[0]!
    const parent = await createLocation(used.context, orgId, { ...draft('P'), parent: {} })
    const child = await createLocation(used.context, orgId, { ...draft('Q'), parent: { id: parent.id } })
    for (const store of [locationRepository, locationWithPathRepository])
      for (const { id } of [parent, child])
        expect(await store.load(db, orgId, id)).toEqual(await store.find(db, orgId, id))
    for (const id of assets[0]!)
      expect(await assetWithLocationRepository.load(db, orgId, id)).toEqual(
        await assetWithLocationRepository.find(db, orgId, id),
      )
  })
})
