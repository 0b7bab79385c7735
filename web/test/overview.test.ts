import { goToPage } from './support/navigation.ts'
import { Org, warehouse } from './support/org.ts'
import { expect, test } from './support/test.ts'

test('The URL of the overview holds the period of the chart of moves, also after a reload and Back', async ({
  page,
}) => {
  const { org } = await warehouse()
  await org.signIn(page)
  const chart = page.locator('section', { has: page.getByRole('heading', { name: 'Moves over time' }) })
  const isChosen = (name: string) => expect(chart.getByRole('radio', { name })).toBeChecked()
  await isChosen('Day')
  await chart.getByText('Month', { exact: true }).scrollIntoViewIfNeeded()
  const scrolled = await page.evaluate(() => scrollY)
  await chart.getByText('Month', { exact: true }).click()
  await expect(page).toHaveURL(/\/\?days=30$/)
  await isChosen('Month')
  await expect(chart.getByText(/moves in the last 30 days/)).toBeAttached()
  expect(await page.evaluate(() => scrollY)).toBe(scrolled)
  // The parameter does not change which page is the current one.
  await expect(page.locator('.nav-link[data-status=active]')).toHaveText('Overview')

  await page.reload()
  await isChosen('Month')
  await goToPage(page, 'Assets')
  await page.goBack()
  await isChosen('Month')

  await chart.getByText('Day', { exact: true }).click()
  await expect(page).toHaveURL(/\/$/)
  await page.goto(new URL('/?days=8', page.url()).href)
  await isChosen('Day')
})

test('The chart of moves is below the locations, and on a phone below the moves', async ({ page }) => {
  const { org } = await warehouse()
  await org.signIn(page)
  const boxOf = async (name: string) =>
    (await page.locator('section', { has: page.getByRole('heading', { name, exact: true }) }).boundingBox())!
  const boxes = () => Promise.all(['Assets per location', 'Moves', 'Moves over time'].map(boxOf))
  await expect(page.getByRole('heading', { name: 'Moves over time' })).toBeVisible()
  const [locations, moves, chart] = await boxes()
  expect(chart!.y - locations!.y - locations!.height).toBeCloseTo(16, 0)
  expect(chart!.y + chart!.height).toBeCloseTo(moves!.y + moves!.height, 0)
  await page.setViewportSize({ width: 360, height: 740 })
  const [first, second, third] = await boxes()
  expect(second!.y).toBeCloseTo(first!.y + first!.height + 16, 0)
  expect(third!.y).toBeCloseTo(second!.y + second!.height + 16, 0)
})

test('The overview lists each of twenty zones, and the assets that were never seen', async ({ page }) => {
  const org = await Org.create()
  const count = 20
  for (let index = 1; index <= count; index++) {
    const name = `Zone ${String(index).padStart(2, '0')}`
    const { external_key: key } = await org.location(name)
    await org.asset(`Case ${index}`, { external_key: `CASE-${index}` })
    await org.post('/inventory/save', { location_identifier: key, asset_identifiers: [`CASE-${index}`] })
  }
  await org.asset('Ladder')
  await org.signIn(page)
  await expect(page.getByText('21 assets, 20 seen at least once')).toBeVisible()
  const rows = page.getByRole('list', { name: 'Assets per location' }).getByRole('listitem')
  await expect(rows).toHaveCount(count + 1)
  await expect(rows.nth(count - 1)).toHaveText(/^Zone 201$/)
  await expect(rows.last()).toHaveText(/^Never seen1$/)
})

test('Problems are shown above the first steps, whose actions are those of the role', async ({ page }) => {
  const org = await Org.create()
  await org.location('Hall')
  await org.asset('Ladder')
  const reader = await org.reader('Gate', [null])
  await org.read(reader.token, [{ tag: 'E2AA', antenna: 1 }])
  await org.signIn(page)
  const [problem, step] = [page.getByRole('link', { name: '1 unassigned tag' }), page.getByText('Record the first')]
  await expect(problem).toBeVisible()
  await expect(step).toBeVisible()
  expect((await problem.boundingBox())!.y).toBeLessThan((await step.boundingBox())!.y)
  await expect(page.getByText('asset has never been seen')).toHaveCount(0)
  await page.getByRole('link', { name: 'Create a reader' }).click()
  await expect(page.getByRole('dialog', { name: 'Create reader' })).toBeVisible()

  await org.signIn(page, await org.member('operator'))
  await expect(page.getByRole('link', { name: 'Scan now' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Create a reader' })).toHaveCount(0)
})

test('Overdue assets and a failing webhook need attention, each with a link to its page', async ({ page }) => {
  const { org, reader, tag } = await warehouse()
  const observed_at = new Date(Date.now() - 2 * 86_400_000).toISOString()
  await org.read(reader.token, [{ tag: tag(5), antenna: 1, observed_at }])
  await org.post('/webhooks', { url: 'https://127.0.0.1:9/hook', enabled: true })
  await org.read(reader.token, [{ tag: tag(3), antenna: 2 }])
  await expect.poll(async () => (await org.get('/attention')).webhook_is_failing as boolean).toBe(true)
  await org.signIn(page)
  const attention = page.locator('section', { has: page.getByRole('heading', { name: 'Needs attention' }) })
  await attention.getByRole('link', { name: '1 asset has not been seen for 24 hours' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Unseen assets' })).toBeVisible()
  await expect(page.getByRole('table', { name: 'Assets not seen recently' }).getByRole('row')).toHaveText([
    /Name/,
    /Crate 5/,
  ])
  await page.goBack()
  await attention.getByRole('link', { name: 'Webhook deliveries are failing' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Webhooks' })).toBeVisible()
  await expect(page.getByRole('alert')).toContainText('Webhook deliveries are failing')
})
