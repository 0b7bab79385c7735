import { openSearch } from './support/navigation.ts'
import { Org, warehouse } from './support/org.ts'
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

const now = (): string => new Date().toISOString()
const rowsOf = <Row>(count: number, row: (index: number) => Row): Row[] =>
  Array.from({ length: count }, (_, at) => row(at))

test('A location picker says how many locations it does not list', async ({ page }) => {
  const org = await Org.create()
  await Promise.all(rowsOf(25, (index) => org.location(`Rack ${index + 1}`)))
  await org.signIn(page, org.email, '/assets')
  const picker = page.getByPlaceholder('All locations')
  const options = page.getByRole('option')
  await picker.click()
  await expect(options).toHaveCount(21)
  await expect(options.last()).toHaveText('First 20 of 25: type to find the others')
  await expect(options.last()).toHaveAttribute('data-combobox-disabled', 'true')
  await picker.fill('Rack 25')
  await expect(options).toHaveCount(1)
  await expect(options).toContainText('Rack 25')
})

test('The search says of which kinds it shows only the first results', async ({ page }) => {
  const org = await Org.create()
  await Promise.all([
    ...rowsOf(9, (index) => org.reader(`Gate ${index}`, [])),
    ...rowsOf(3, (index) => org.asset(`Gate key ${index}`)),
  ])
  await org.signIn(page)
  const input = await openSearch(page)
  await input.fill('gate')
  await expect(page.getByText('See all assets')).toBeVisible()
  const titles = await page
    .locator('.mantine-Spotlight-actionsGroup')
    .evaluateAll((groups) => groups.map((one) => getComputedStyle(one, '::before').content))
  expect(titles).toEqual(['"Assets"', '"Readers (first 8)"', '"Pages"'])
  await page.getByText('See all readers').click()
  await expect(page.getByRole('table', { name: 'Readers' }).getByRole('row')).toHaveCount(10)
})

test('The overview says that it has the latest moves and the latest failed imports only', async ({ page, context }) => {
  const { org, hall, dock } = await warehouse()
  await context.route('**/api/v1/moves?**', (route) => {
    const move = (index: number) => ({
      delivery_id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      occurred_at: now(),
      asset: { id: index + 1, external_key: `CASE-${index}`, name: `Case ${index}` },
      from_location: { id: dock.id, name: dock.name },
      to_location: { id: hall.id, name: hall.name },
    })
    return route.fulfill({ json: { data: rowsOf(40, move) } })
  })
  await context.route('**/api/v1/attention', (route) => {
    const failed_imports = rowsOf(20, (index) => ({ id: index + 1, kind: 'assets', failed_at: now() }))
    return route.fulfill({
      json: { data: { silent_readers: 0, unassigned_tags: 0, webhook_is_failing: false, failed_imports } },
    })
  })
  await org.signIn(page)
  await expect(page.getByRole('log', { name: 'Moves' }).getByText('The latest 40 moves.')).toBeAttached()
  await expect(page.getByText('The latest 20 failed imports are listed.')).toBeVisible()
  await page.getByRole('link', { name: 'An import of assets failed just now' }).first().click()
  await expect(page).toHaveURL(/\/import\?import=1$/)
})

test('A reader with many antennas, live reads or entries of the inbox says what is not shown', async ({
  page,
  context,
}) => {
  const org = await Org.create()
  const halls = await Promise.all(rowsOf(6, (index) => org.location(`Hall ${index + 1}`)))
  const { id } = await org.reader(
    'Gate',
    halls.map((one) => one.id),
  )
  await context.route('**/api/v1/readers/*/reads', (route) =>
    route.fulfill({
      json: {
        data: rowsOf(16, (index) => ({
          tag_type: 'rfid',
          value: `E28${index}`,
          antenna: 1,
          rssi_dbm: -50,
          observed_at: now(),
          received_at: now(),
          owner: null,
        })),
      },
    }),
  )
  await context.route('**/api/v1/readers/inbox?**', (route) =>
    route.fulfill(
      pageOf(route.request().url(), 1000, (index) => ({
        tag_type: 'rfid',
        value: `E28${index}`,
        reader_id: id,
        antenna: 1,
        reads: 1,
        first_seen_at: now(),
        last_seen_at: now(),
      })),
    ),
  )
  await context.route('**/api/v1/readers/unknown', (route) => {
    const topics = rowsOf(200, (index) => ({
      topic: `lastseen/gate-${index}/reads`,
      topic_key: `gate-${index}`,
      messages: 1,
      first_seen_at: now(),
      last_seen_at: now(),
    }))
    return route.fulfill({ json: { data: { reason: null, topics } } })
  })
  await org.signIn(page, org.email, '/readers')
  await page.getByRole('link', { name: 'and 2 more' }).click()
  await expect(page.getByRole('table', { name: 'Antennas' }).getByRole('row')).toHaveCount(6)
  await expect(page.getByRole('table', { name: 'Live reads' }).getByRole('row')).toHaveCount(16)
  await expect(page.getByText('The latest 15 reads.')).toBeVisible()
  await page.goto(new URL('/readers/inbox', page.url()).href)
  await expect(page.getByText('The inbox keeps the 1,000 tags that were seen last.')).toBeVisible()
  await expect(page.getByText('The 200 topics with the latest messages.')).toBeVisible()
})

test('The history of an asset, the attempts of a webhook and a print preview say what they leave out', async ({
  page,
  context,
}) => {
  const { org, assets, hall } = await warehouse()
  await org.post('/webhooks', { url: 'https://127.0.0.1:9/hook', enabled: true })
  await context.route('**/api/v1/asset-stays/*?**', (route) =>
    route.fulfill(
      pageOf(route.request().url(), 300, (index) => {
        const at = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString()
        return {
          location_id: hall.id,
          location_external_key: hall.external_key,
          location_name: hall.name,
          began_at: at(2 * index + 2),
          began_earlier: false,
          ended_at: at(2 * index + 1),
          last_seen_at: at(2 * index + 1),
          minutes: 1,
          notes: [],
        }
      }),
    ),
  )
  await context.route('**/api/v1/webhooks/*/attempts?**', (route) =>
    route.fulfill(
      pageOf(route.request().url(), 30, (index) => ({
        delivery_id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
        event: 'asset.moved',
        attempt: 1,
        attempted_at: now(),
        status: 200,
        error: null,
        duration_ms: 12,
      })),
    ),
  )
  await org.signIn(page, org.email, `/assets/${assets[0]!.id}`)
  // The chart has all 200 stays from the start, the list has the first 20.
  await expect(page.getByText('The chart and the list have the latest 200 of 300 stays.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Show 20 more of 300 stays' })).toBeVisible()
  await page.goto(new URL('/settings/webhooks', page.url()).href)
  await expect(page.getByText('The latest 25 of 30 attempts in the last seven days.')).toBeVisible()
  await page.goto(new URL('/labels?sheet=roll-62', page.url()).href)
  await expect(page.getByText('First of 6 pages')).toBeVisible()
})

test('The selection of assets says when it has the maximum for one action', async ({ page, context }) => {
  const org = await Org.create()
  await context.route('**/api/v1/assets?**', (route) =>
    route.fulfill(
      pageOf(route.request().url(), 250, (index) => ({
        id: index + 1,
        external_key: `CASE-${index + 1}`,
        name: `Case ${index + 1}`,
        description: null,
        is_active: true,
        metadata: {},
        tags: [],
        valid_from: now(),
        valid_to: null,
        created_at: now(),
        updated_at: now(),
        deleted_at: null,
      })),
    ),
  )
  await org.signIn(page, org.email, '/assets?size=100')
  const bar = page.getByRole('region', { name: 'Selected assets' })
  for (const [number, selected] of [
    [1, '100 assets selected'],
    [2, '200 assets selected, the maximum for one action'],
    [3, '200 assets selected, the maximum for one action'],
  ] as const) {
    await expect(page.getByText(new RegExp(`^${(number - 1) * 100 + 1}–`))).toBeVisible()
    await page.getByLabel('Select all on this page').click()
    await expect(bar.getByText(selected, { exact: true })).toBeVisible()
    if (number < 3) await page.getByRole('button', { name: 'next page' }).click()
  }
})

test('A tree of thousands of locations starts collapsed and shows a part of long lists', async ({ page, context }) => {
  const org = await Org.create()
  const parents = 20
  const locations = rowsOf(6000, (index) => ({
    location_id: index + 1,
    external_key: `L-${index + 1}`,
    name: index < parents ? `Hall ${index + 1}` : `Shelf ${index + 1}`,
    // Half of the shelves are in the first hall.
    parent_id: index < parents ? null : index % 2 === 0 ? 1 : 2 + (index % (parents - 1)),
    here: 0,
    here_with_subtree: 0,
  }))
  await context.route('**/api/v1/overview', async (route) => {
    const response = await route.fetch()
    const { data } = (await response.json()) as { data: object }
    await route.fulfill({ response, json: { data: { ...data, locations } } })
  })
  await org.signIn(page, org.email, '/locations')
  const rows = page.getByRole('list', { name: 'Locations' }).getByRole('listitem')
  await expect(rows).toHaveCount(parents)
  await page.getByRole('button', { name: 'Expand Hall 1', exact: true }).click()
  await expect(rows).toHaveCount(500)
  await page.getByRole('button', { name: 'Show 500 more of 3,010 locations' }).click()
  await expect(rows).toHaveCount(1000)
  const search = page.getByLabel('Search locations')
  await search.fill('shelf 30')
  // Few results are shown with everything above them.
  await expect(rows.filter({ hasText: 'Shelf 3000' })).toHaveCount(1)
  await search.fill('shelf')
  await expect(rows).toHaveCount(parents)
  await search.fill('')
  await expect(rows).toHaveCount(1000)
  await page.getByRole('button', { name: 'Collapse Hall 1', exact: true }).click()
  await expect(rows).toHaveCount(parents)
})
