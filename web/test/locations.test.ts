import { openSearch } from './support/navigation.ts'
import { Org, url, warehouse } from './support/org.ts'
import { expect, test } from './support/test.ts'
import { expectAccessible } from './support/page-checks.ts'

test('The location tree can be collapsed and searched', async ({ page }) => {
  const { org } = await warehouse()
  await org.signIn(page, org.email, '/locations')
  const tree = page.getByRole('list', { name: 'Locations' })
  await expect(tree.getByRole('listitem')).toHaveText([/Riverside SITE\s*4/, /Dock 1 DOCK-1\s*1/, /Hall A HALL-A\s*3/])
  await page.getByRole('button', { name: 'Collapse Riverside' }).click()
  await expect(tree.getByRole('listitem')).toHaveCount(1)
  await page.getByLabel('Search locations').fill('dock')
  await expect(tree.getByRole('listitem')).toHaveText([/Riverside/, /Dock 1/])
})

test('A location can be created below another and moved, and cannot be deleted while in use', async ({ page }) => {
  const { org, hall, dock } = await warehouse()
  await org.signIn(page, org.email, `/locations/${hall.id}`)
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Shelf 7')
  await page.getByRole('button', { name: 'Create location' }).click()
  await page.getByRole('link', { name: 'Shelf 7' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Shelf 7' })).toBeVisible()
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('dialog').getByRole('combobox', { name: 'Parent location' }).fill('Dock')
  await page.getByRole('option', { name: /Dock 1/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await expect(page.locator('.mantine-Breadcrumbs-root')).toContainText('Dock 1')
  await page.goto(`${url()}/locations/${dock.id}`)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete location' }).click()
  await expect(page.getByRole('dialog').getByRole('alert')).toContainText('conflicts')
})

test('The keyboard picks the matching parent location and never removes the current one', async ({ page }) => {
  const { org, site, hall, dock } = await warehouse()
  const shelf = await org.location('Shelf 7', { parent_id: hall.id })
  const parentId = async (): Promise<number | null> =>
    ((await org.get(`/locations/${shelf.id}`)) as { parent_id: number | null }).parent_id
  await org.signIn(page, org.email, `/locations/${shelf.id}`)
  const dialog = page.getByRole('dialog')
  const parent = dialog.getByRole('combobox', { name: 'Parent location' })
  const choose = async (text: string, keys: readonly string[], shown: string): Promise<void> => {
    await page.getByRole('button', { name: 'Edit' }).click()
    await parent.focus()
    if (text !== '') await parent.fill(text)
    for (const key of keys) await parent.press(key)
    await expect(parent).toHaveValue(shown)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await expect(dialog).toHaveCount(0)
  }
  // The keys are pressed before the search has finished, and after the list of all locations was opened.
  await choose('Dock', ['ArrowDown', 'Enter'], 'Dock 1 (DOCK-1)')
  expect(await parentId()).toBe(dock.id)
  await choose('', ['ArrowUp', 'ArrowDown', 'Enter'], 'Dock 1 (DOCK-1)')
  expect(await parentId()).toBe(dock.id)
  await choose('river', ['Enter'], 'Riverside (SITE)')
  expect(await parentId()).toBe(site.id)
})

test('A location page shows its assets, arrivals and departures', async ({ page }) => {
  const { org, hall } = await warehouse()
  await org.signIn(page, org.email, `/locations/${hall.id}`)
  await expect(page.getByRole('table', { name: 'Assets here' }).getByRole('row')).toHaveCount(3)
  const events = page.locator('section', { has: page.getByRole('heading', { name: 'Arrivals and departures' }) })
  await expect(events.getByText('left').first()).toBeVisible()
  await expect(events).toContainText('Crate 2 to Dock 1')
})

test('The overview shows counts, and new moves appear live', async ({ page }) => {
  const { org, reader, tag } = await warehouse()
  await org.signIn(page)
  await expect(page.getByText('4 seen at least once')).toBeVisible()
  await expect(page.locator('[data-live=live]')).toBeVisible()
  const moves = page.getByRole('log', { name: 'Moves' })
  await expect(moves.locator('.move-row').first()).toContainText('Crate 1')
  await org.read(reader.token, [{ tag: tag(3), antenna: 2 }])
  await expect(moves.locator('.move-row').first()).toContainText(/Crate 3\s*Hall A → Dock 1/)
})

test('Fifty moves per second are rendered in batches', async ({ page }) => {
  const org = await Org.create()
  const locations = [await org.location('A'), await org.location('B')]
  const reader = await org.reader(
    'Gate',
    locations.map((one) => one.id),
  )
  const tags = Array.from({ length: 100 }, (_, index) => `E3${String(index).padStart(22, '0')}`)
  for (let start = 0; start < tags.length; start += 20)
    await Promise.all(
      tags
        .slice(start, start + 20)
        .map((value, at) => org.asset(`Thing ${start + at}`, { tags: [{ tag_type: 'rfid', value }] })),
    )
  await org.read(
    reader.token,
    tags.map((tag) => ({ tag, antenna: 1, observed_at: new Date(Date.now() - 120_000).toISOString() })),
  )
  await org.signIn(page)
  await expect(page.locator('[data-live=live]')).toBeVisible()
  const moves = page.getByRole('log', { name: 'Moves' })
  await expect(moves.locator('.move-row')).toHaveCount(40)
  // All mutations of one event-loop tick arrive in one callback.
  const renders = await moves.evaluateHandle((log) => {
    const seen = { times: 0, sinceMs: performance.now() }
    new MutationObserver(() => seen.times++).observe(log, { childList: true })
    return seen
  })
  for (const tag of tags) {
    await org.read(reader.token, [{ tag, antenna: 2 }])
    await page.waitForTimeout(15)
  }
  await expect(moves.locator('.move-row').first()).toContainText(/Thing 99\s*A → B/)
  const { times, ms } = await renders.evaluate(({ times, sinceMs }) => ({ times, ms: performance.now() - sinceMs }))
  expect(times).toBeGreaterThan(0)
  expect(times).toBeLessThanOrEqual(Math.ceil(ms / 250) + 1)
})

test(
  'Search states where assets are and finds locations, tags, readers, pages and actions from any page',
  { tag: '@phone' },
  async ({ page }) => {
    const { org, assets, hall, reader } = await warehouse()
    await org.signIn(page, org.email, '/reports')
    await expect(page.getByRole('heading', { level: 1, name: 'Reports' })).toBeVisible()
    const field = await openSearch(page)
    const dialog = page.getByRole('dialog')
    const selected = dialog.locator('[data-selected]')
    await field.fill('E20000000000000000000001')
    await expect(selected).toContainText('Crate 1')
    await expect(dialog.getByText(/rfid tag of Crate 1 · Hall A · \d+ min\. ago/)).toBeVisible()
    await field.fill('hall')
    await expect(selected).toContainText('HALL-A')
    await expect(dialog.getByText('Scan at Hall A')).toBeVisible()
    await field.fill('gate')
    await expect(selected).toContainText(/Gate\s*last message/)
    await field.fill('crate')
    await expect(selected).toContainText(/Crate 1\s*CRATE-1 · Hall A · \d+ min\. ago/)
    await expect(dialog.getByText('CRATE-5 · not seen yet')).toBeVisible()
    await expectAccessible(page)
    let requests = 0
    page.on('request', (request) => (requests += request.url().includes('/search') ? 1 : 0))
    // Enter follows the text before the results have arrived, as with a hand scanner.
    await field.fill('CRATE-2')
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(new RegExp(`/assets/${assets[1]!.id}$`))
    expect(requests).toBe(1)

    const search = async (text: string, label: string, at: RegExp): Promise<void> => {
      await (await openSearch(page)).fill(text)
      await expect(selected).toContainText(label)
      await page.keyboard.press('Enter')
      await expect(page).toHaveURL(at)
    }
    await search('api key', 'API Keys', /settings\/api-keys$/)
    await search('gate', 'Gate', new RegExp(`/readers/${reader.id}$`))
    await search('create location', 'Create location', /locations\?create=yes$/)
    await expect(page.getByRole('dialog', { name: 'New location' })).toBeVisible()
    await page.keyboard.press('Escape')
    await page.goto(`${url()}/locations/${hall.id}`)
    await expect(page.getByRole('heading', { level: 1, name: 'Hall A' })).toBeVisible()
    await search('scan here', 'Scan at Hall A', new RegExp(`/scan\\?location=${hall.id}$`))
    await (await openSearch(page)).fill('crate')
    await dialog.getByText('See all results').click()
    await expect(page).toHaveURL(/\/assets\?q=crate$/)
    await expect(page.getByRole('table', { name: 'Assets' }).getByRole('row')).toHaveCount(7)
  },
)

test('When two users change different fields of a location, both changes are kept', async ({ page }) => {
  const org = await Org.create()
  const location = await org.location('Old name')
  await org.signIn(page, org.email, `/locations/${location.id}`)
  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Description').fill('Mine')
  await org.patch(`/locations/${location.id}`, { name: 'Their name' })
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(dialog).toHaveCount(0)
  expect(await org.get(`/locations/${location.id}`)).toMatchObject({ name: 'Their name', description: 'Mine' })
})
