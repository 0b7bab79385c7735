import { Org } from './support/org.ts'
import { expect, test } from './support/test.ts'

/** Answers the requests for a list as the server does, with a page of `total` rows. */
const pageOf = (requestUrl: string, total: number, row: (index: number) => object) => {
  const query = new URL(requestUrl).searchParams
  const [limit, offset] = [Number(query.get('limit') ?? 50), Number(query.get('offset') ?? 0)]
  const data = Array.from({ length: Math.max(0, Math.min(limit, total - offset)) }, (_, index) => row(offset + index))
  return { json: { data, limit, offset, total_count: total } }
}

test('A stocktake of a location with more assets than the page compares says so', async ({ page, context }) => {
  const org = await Org.create()
  const hall = await org.location('Hall')
  await context.route('**/api/v1/reports/asset-locations?**', (route) =>
    route.fulfill(
      pageOf(route.request().url(), 5100, (index) => ({
        asset_id: index + 1,
        asset_external_key: `CASE-${index + 1}`,
        location_id: hall.id,
        location_external_key: hall.external_key,
        asset_deleted_at: null,
        asset_last_seen: new Date().toISOString(),
      })),
    ),
  )
  await org.signIn(page, org.email, `/scan?location=${hall.id}`)
  await page.getByRole('tab', { name: 'Missing 5,000' }).click()
  await expect(page.getByText(/Compared with the first 5,000 of 5,100 assets/)).toBeVisible()
  await expect(page.getByText('First 300 of 5,000 missing assets.')).toBeVisible()
})

test('One record is counted in the singular, and a list of one page states only its length', async ({ page }) => {
  const org = await Org.create()
  await org.asset('Ladder')
  await org.signIn(page, org.email, '/assets')
  await expect(page.getByText('1 asset', { exact: true })).toBeVisible()
  await org.asset('Drill')
  await page.reload()
  await expect(page.getByText('2 assets', { exact: true })).toBeVisible()
})
