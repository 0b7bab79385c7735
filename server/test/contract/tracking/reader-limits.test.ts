import { expect, it } from 'vitest'
import { type Instant, instantFromMillis } from '../../../src/kernel/instant.ts'
import { listUnknownTopics, noteAntennas, noteUnknownTopics } from '../../../src/readers/unknown.sql.ts'
import { Site, database, expectApiError, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

it('A reader has at most 256 scan points, when it is added and when it is changed', async () => {
  const site = await Site.open(context.app, 'Dock')
  const { accessToken: token } = await site.org.signIn('manager')
  const send = (method: string, path: string, count: number) => {
    const scanPoints = Array.from({ length: count }, (_, index) => ({ antenna: index + 1, location_id: null }))
    return context.app.anonymous(method, path, { token, json: { name: 'Gate', scan_points: scanPoints } })
  }
  const tooMany = [{ field: 'scan_points', code: 'too_long', params: { max_length: 256 } }]
  const added = await send('POST', '/api/v1/readers', 256)
  expect(added.status, added.text).toBe(201)
  expect(added.json.data.scan_points).toHaveLength(256)
  expectApiError(await send('POST', '/api/v1/readers', 257), 400, 'validation_error', tooMany)
  const path = `/api/v1/readers/${added.json.data.id}`
  expect((await send('PATCH', path, 256)).status).toBe(200)
  expectApiError(await send('PATCH', path, 257), 400, 'validation_error', tooMany)
})

/** The minutes from a fixed time on. */
const minute = (count: number): Instant => instantFromMillis(Date.UTC(2026, 4, 4, 12, count))

it('A reader has at most 64 antennas without a scan point; those not seen for the longest time are deleted', async () => {
  const site = await Site.open(context.app)
  const { orgId } = site.org
  const note = (antennas: readonly number[], at: Instant) =>
    context.app.context.db.withTenant(orgId, (tx) =>
      noteAntennas(
        tx,
        orgId,
        antennas.map((antenna) => ({ readerId: site.readerId, antenna, reads: 1 })),
        at,
      ),
    )
  const stored = async () => {
    const rows = await database(context.app)`
      select antenna from unknown_antennas where org_id = ${orgId} and reader_id = ${site.readerId} order by antenna`
    return rows.map((row) => row['antenna'] as number)
  }
  const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
  await note([101], minute(0))
  await note(numbers(102, 164), minute(1))
  expect(await stored()).toEqual(numbers(101, 164))
  await note([165], minute(2))
  expect(await stored()).toEqual(numbers(102, 165))
})

it('An installation has at most 200 topics without a reader; those not seen for the longest time are deleted', async () => {
  const { db } = context.app.context
  const note = (names: readonly string[], at: Instant) =>
    db.globalTransaction((tx) => noteUnknownTopics(tx, new Map(names.map((name) => [name, 1])), at))
  const names = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => `lastseen/limit-${from + index}/reads`)
  const stored = async () => (await listUnknownTopics(db.global)).map(({ topic }) => topic).sort()
  await note(names(1, 1), minute(0))
  await note(names(2, 200), minute(1))
  expect(await stored()).toEqual(names(1, 200).sort())
  await note(names(201, 201), minute(2))
  expect(await stored()).toEqual(names(2, 201).sort())
})
