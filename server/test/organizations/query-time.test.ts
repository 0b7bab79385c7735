import { expect, it } from 'vitest'
import { QueryTime } from '../../src/organizations/query-time.ts'

let atMs = 5000
const queryTime = new QueryTime({ limitSeconds: async (orgId) => (orgId === 9 ? 0 : 2), millis: () => atMs })
const use = (orgId: number, ms: number) =>
  queryTime.measure(orgId, async () => {
    atMs += ms
  })

it('admits statements while less than the quota is used, and rejects them at the quota until the minute is over', async () => {
  await queryTime.assertLeft(1)
  await use(1, 1999)
  await queryTime.assertLeft(1)
  expect(queryTime.usedSeconds(1)).toBe(2)
  await use(1, 1)
  await expect(queryTime.assertLeft(1)).rejects.toMatchObject({
    kind: 'rate_limited',
    message:
      'Quota query_seconds reached: searches, reports and long lists of the organization may use 2 seconds of database time a minute; retry after 58 seconds',
    headers: { 'Retry-After': '58' },
  })
  await queryTime.assertLeft(2)
  atMs += 57_999
  await expect(queryTime.assertLeft(1)).rejects.toMatchObject({ headers: { 'Retry-After': '1' } })
  atMs += 1
  await queryTime.assertLeft(1)
  expect(queryTime.usedSeconds(1)).toBe(0)
})

it('counts the time of a statement that failed', async () => {
  const failed = queryTime.measure(3, async () => {
    atMs += 2000
    throw new Error('canceled')
  })
  await expect(failed).rejects.toThrow('canceled')
  await expect(queryTime.assertLeft(3)).rejects.toMatchObject({ kind: 'rate_limited' })
})

it('rejects everything with a quota of zero', async () => {
  await expect(queryTime.assertLeft(9)).rejects.toMatchObject({ headers: { 'Retry-After': '60' } })
})
