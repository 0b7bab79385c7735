import type { LocationCount } from '../src/api/types.ts'
import { treeRows } from '../src/features/locations/tree.ts'
import { openSearch } from './support/navigation.ts'
import { Org, url, warehouse } from './support/org.ts'
import { allowErrors, expect, test } from './support/test.ts'
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
  await page.getByRole('button', { name: 'Create location' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Shelf 7')
  await page.getByRole('dialog').getByRole('button', { name: 'Create location' }).click()
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
  await expect(page.getByRole('dialog')).toContainText(
    'it has 1 location below it and 1 asset that was last seen there. Move them to another location first.',
  )
  await expect(page.getByRole('button', { name: 'Delete location' })).toHaveCount(0)
})

test('The deletion of a location can be undone for 30 seconds', async ({ page }) => {
  const { org, hall } = await warehouse()
  const shelf = await org.location('Shelf 7', { parent_id: hall.id })
  await org.signIn(page, org.email, `/locations/${shelf.id}`)
  const row = page.getByRole('list', { name: 'Locations' }).getByRole('link', { name: 'Shelf 7' })
  const remove = async (): Promise<void> => {
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Delete location' }).click()
    await expect(page.getByText(/Shelf 7 will be deleted in \d+ s/)).toBeVisible()
    await expect(page).toHaveURL(/\/locations$/)
    await expect(page.getByRole('list', { name: 'Locations' }).getByRole('listitem')).toHaveCount(3)
    await expect(row).toHaveCount(0)
  }
  await remove()
  expect(await org.get(`/locations/${shelf.id}`)).toMatchObject({ name: 'Shelf 7' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await row.click()
  await remove()
  await page.getByRole('button', { name: 'Delete now' }).click()
  await expect.poll(() => org.get('/locations')).toHaveLength(3)
  await expect(row).toHaveCount(0)
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
  await expect(events.getByText('Departed').first()).toBeVisible()
  await expect(events).toContainText('Crate 2 to Dock 1')
})

test('A location with locations below shows the arrivals and departures of all of them, or its own', async ({
  page,
}) => {
  const { org, site, reader, tag } = await warehouse()
  const yard = await org.location('Yard', { external_key: 'YARD' })
  const gate = await org.reader('Yard gate', [yard.id])
  await org.read(reader.token, [{ tag: tag(5), antenna: 1 }])
  await org.read(gate.token, [{ tag: tag(4), antenna: 1 }])
  await org.signIn(page, org.email, `/locations/${site.id}`)
  const events = page.locator('section', { has: page.getByRole('heading', { name: 'Arrivals and departures' }) })
  // Four first sightings in Hall A, one now; moves between Hall A and Dock 1 stay within the site.
  await expect(events.locator('.move-row')).toHaveCount(6)
  await expect(events).toContainText(/Departed\s*Crate 4 from Hall A to Yard/)
  await expect(events).toContainText(/Arrived\s*Crate 5 at Hall A/)
  await page.getByRole('switch', { name: 'Include locations below' }).click()
  await expect(events).toContainText('No arrivals or departures yet.')
  await expect(page.getByText('No assets were last seen here')).toBeVisible()
})

test('New moves appear live on the overview, but not under the pointer', async ({ page }) => {
  const { org, reader, tag } = await warehouse()
  await org.signIn(page)
  await expect(page.getByText('6 assets, 4 seen at least once')).toBeVisible()
  await expect(page.locator('[data-live=live]')).toBeVisible()
  const first = page.getByRole('log', { name: 'Moves' }).locator('.move-row').first()
  await expect(first).toContainText('Crate 1')
  await org.read(reader.token, [{ tag: tag(3), antenna: 2 }])
  await expect(first).toContainText(/Crate 3\s*Hall A → Dock 1/)
  await first.hover()
  await org.read(reader.token, [{ tag: tag(4), antenna: 2 }])
  await expect(page.getByRole('button', { name: '1 new move' })).toBeVisible()
  await expect(first).toContainText('Crate 3')
  await page.getByRole('heading', { name: 'Overview' }).hover()
  await expect(first).toContainText('Crate 4')
  await first.getByRole('link', { name: 'Crate 4' }).focus()
  await org.read(reader.token, [{ tag: tag(5), antenna: 2 }])
  await page.getByRole('button', { name: '1 new move' }).click()
  await expect(first).toContainText('Crate 5')
})

test(
  'The overview begins with what needs attention, and counts every asset by location',
  { tag: '@phone' },
  async ({ page }) => {
    const { org, hall } = await warehouse()
    const rack = await org.location('Rack 7', { parent_id: hall.id })
    const yard = await org.location('Yard', { external_key: 'YARD' })
    const save = (location: { external_key: string }, ...keys: string[]) =>
      org.post('/inventory/save', { location_identifier: location.external_key, asset_identifiers: keys })
    await save(rack, 'CRATE-3', 'CRATE-4')
    await save(yard, 'CRATE-5')
    await org.reader('Old gate', [hall.id])
    await org.signIn(page)
    const counts = page.getByRole('list', { name: 'Assets per location' }).getByRole('listitem')
    await expect(counts).toHaveText([/^Riverside4$/, /^Yard1$/, /^Never seen1$/])
    await page.getByRole('button', { name: 'Expand Riverside' }).click()
    await page.getByRole('button', { name: 'Expand Hall A' }).click()
    await expect(counts).toHaveText([/^Riverside4$/, /^Dock 11$/, /^Hall A3$/, /^Rack 72$/, /^Yard1$/, /^Never seen1$/])
    const attention = page.locator('section', { has: page.getByRole('heading', { name: 'Needs attention' }) })
    await expect(attention.getByRole('link')).toHaveText([
      /^1\s*asset has never been seen$/,
      /^1\s*reader is silent$/,
      /^1\s*unassigned tag$/,
    ])
    await attention.getByRole('link', { name: 'asset has never been seen' }).click()
    await expect(page.getByRole('table', { name: 'Assets never seen' }).getByRole('row')).toHaveText([
      /Name/,
      /Crate 6/,
    ])
    await page.goBack()
    await attention.getByRole('link', { name: 'reader is silent' }).click()
    await expect(page.getByRole('table', { name: 'Readers' }).getByRole('row')).toHaveText([/Name/, /Old gate/])
    await page.goBack()
    await attention.getByRole('link', { name: 'unassigned tag' }).click()
    await expect(page.getByText('E2FFFFFFFFFFFFFFFFFFFFFF')).toBeVisible()

    const quiet = await Org.create()
    const shelf = await quiet.location('Shelf')
    await quiet.asset('Box', { external_key: 'BOX' })
    await quiet.post('/inventory/save', { location_identifier: shelf.external_key, asset_identifiers: ['BOX'] })
    await quiet.signIn(page)
    await expect(page.getByText('Nothing needs attention.')).toBeVisible()
  },
)

test('The labels of the chart of moves are round and never collide', async ({ page }) => {
  const { org, reader, tag } = await warehouse()
  const day = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString()
  for (const days of [20, 10, 5, 3])
    await org.read(
      reader.token,
      [5, 6].map((index) => ({ tag: tag(index), antenna: 1 + (days % 2), observed_at: day(days) })),
    )
  await org.signIn(page)
  const chart = page.locator('section', { has: page.getByRole('heading', { name: 'Moves over time' }) })
  const labels = (axis: 'time' | 'count') => chart.locator(`[data-axis=${axis}] text`)
  for (const view of ['Day', 'Week', 'Month'])
    for (const width of [1280, 768, 390]) {
      await page.setViewportSize({ width, height: 800 })
      await chart.getByText(view, { exact: true }).click()
      await expect(labels('time').first()).toBeVisible()
      const boxes = await labels('time').evaluateAll((texts) =>
        texts.map((text) => [text.getBoundingClientRect().left, text.getBoundingClientRect().right] as const),
      )
      expect(boxes.length, `${view} at ${width} px`).toBeGreaterThan(1)
      for (const [index, [left]] of boxes.slice(1).entries())
        expect(left, `${view} at ${width} px`).toBeGreaterThan(boxes[index]![1] + 4)
      const texts = await labels('time').allTextContents()
      for (const text of texts) expect(text).toMatch(view === 'Day' ? /^\d\d:00$/ : /^\d{1,2} \w{3}$/)
      expect((await labels('count').allTextContents()).map(Number).every(Number.isInteger)).toBe(true)
    }
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
    await expect(dialog.getByText(/RFID tag of Crate 1 · Hall A · \d+ minutes? ago/)).toBeVisible()
    await field.fill('hall')
    await expect(selected).toContainText('HALL-A · Riverside · 3 assets')
    await expect(dialog.getByText('See all locations')).toBeVisible()
    await expect(dialog.getByText('Scan at Hall A')).toBeVisible()
    await field.fill('gate')
    await expect(selected).toContainText(/Gate\s*Last message/)
    await field.fill('crate')
    await expect(selected).toContainText(/Crate 1\s*CRATE-1 · Hall A · \d+ minutes? ago/)
    await expect(dialog.getByText('CRATE-5 · Never seen')).toBeVisible()
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
    await search('api key', 'API keys', /settings\/api-keys$/)
    await search('gate', 'Gate', new RegExp(`/readers/${reader.id}$`))
    await search('create location', 'Create location', /locations\?create=yes$/)
    await expect(page.getByRole('dialog', { name: 'Create location' })).toBeVisible()
    await page.keyboard.press('Escape')
    await search('invite', 'Invite a member', /settings\/members\?create=yes$/)
    await expect(page.getByRole('dialog', { name: 'Invite a member' })).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(page).toHaveURL(/settings\/members$/)
    await page.goto(`${url()}/locations/${hall.id}`)
    await expect(page.getByRole('heading', { level: 1, name: 'Hall A' })).toBeVisible()
    await search('scan here', 'Scan at Hall A', new RegExp(`/scan\\?location=${hall.id}$`))
    await (await openSearch(page)).fill('crate')
    await dialog.getByText('See all assets').click()
    await expect(page).toHaveURL(/\/assets\?q=crate$/)
    await expect(page.getByRole('table', { name: 'Assets' }).getByRole('row')).toHaveCount(7)
    await (await openSearch(page)).fill('dock')
    await dialog.getByText('See all locations').click()
    await expect(page).toHaveURL(/\/locations\?q=dock$/)
  },
)

test('A search that fails says so, and one without results says that', async ({ page, context }) => {
  allowErrors(/net::ERR_INTERNET_DISCONNECTED/)
  const { org } = await warehouse()
  await org.signIn(page)
  const field = await openSearch(page)
  const dialog = page.getByRole('dialog')
  await field.fill('xyzzy')
  await expect(dialog.getByText('No results')).toBeVisible()
  await context.route('**/api/v1/search**', (route) =>
    route.fulfill({
      status: 400,
      json: {
        error: { type: 'validation_error', title: 'Bad', status: 400, detail: 'Bad', instance: '', request_id: '' },
      },
    }),
  )
  await field.fill('xyzzy2')
  await expect(dialog.getByText('The search failed. Change the text to try again.')).toBeVisible()
  await context.unroute('**/api/v1/search**')
  await context.setOffline(true)
  await field.fill('xyzzy3')
  await expect(dialog.getByText('The server cannot be reached')).toBeVisible()
  await context.setOffline(false)
  await expect(dialog.getByText('No results')).toBeVisible()
})

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

test('When two users change the same field or the parent of a location, the second decides', async ({ page }) => {
  const { org, site, hall, dock } = await warehouse()
  const shelf = await org.location('Shelf', { parent_id: hall.id })
  await org.signIn(page, org.email, `/locations/${shelf.id}`)
  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog')
  const conflict = dialog.getByRole('alert')
  await dialog.getByLabel('Name').fill('My shelf')
  await dialog.getByRole('combobox', { name: 'Parent location' }).fill('Dock 1')
  await page.getByRole('option', { name: /Dock 1/ }).click()
  await org.patch(`/locations/${shelf.id}`, { name: 'Their shelf', parent_id: site.id, description: 'Theirs' })
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(conflict.getByRole('listitem')).toHaveText([
    'Name: yours “My shelf”, theirs “Their shelf”',
    'Parent location: yours “Dock 1”, theirs “Riverside”',
  ])
  await dialog.getByRole('button', { name: 'Overwrite with mine' }).click()
  await expect(dialog).toHaveCount(0)
  expect(await org.get(`/locations/${shelf.id}`)).toMatchObject({
    name: 'My shelf',
    parent_id: dock.id,
    description: 'Theirs',
  })
})

test('The keyboard moves a location to the top level', async ({ page }) => {
  const { org, hall } = await warehouse()
  const shelf = await org.location('Shelf 7', { parent_id: hall.id })
  await org.signIn(page, org.email, `/locations/${shelf.id}`)
  const dialog = page.getByRole('dialog')
  const parent = dialog.getByRole('combobox', { name: 'Parent location' })
  await page.getByRole('button', { name: 'Edit' }).click()
  await expect(parent).toHaveValue('Hall A (HALL-A)')
  await parent.fill('none')
  await expect(page.getByRole('option', { name: 'None (top level)' })).toBeVisible()
  await parent.press('ArrowDown')
  await parent.press('Enter')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog).toHaveCount(0)
  expect(await org.get(`/locations/${shelf.id}`)).toMatchObject({ parent_id: null })

  // A new location has no parent at first; choosing none again changes nothing.
  await page.getByRole('link', { name: 'Locations', exact: true }).first().click()
  // The page of a location has a button with the same name.
  await expect(page.getByRole('heading', { level: 1, name: 'Locations' })).toBeVisible()
  await page.getByRole('button', { name: 'Create location' }).click()
  await dialog.getByLabel('Name').fill('Yard')
  await parent.focus()
  await parent.press('ArrowDown')
  await page.getByRole('option', { name: 'None (top level)' }).click()
  await dialog.getByRole('button', { name: 'Create location' }).click()
  await expect(page.getByRole('link', { name: 'Yard' })).toBeVisible()
})

test('The URL of a location holds the switch and the pages of its lists', async ({ page }) => {
  const { org, site, hall } = await warehouse()
  const keys = Array.from({ length: 20 }, (_, index) => `BOX-${index}`)
  await Promise.all(keys.map((key) => org.asset(key, { external_key: key })))
  await org.post('/inventory/save', { location_identifier: hall.external_key, asset_identifiers: keys })
  await org.signIn(page, org.email, `/locations/${site.id}`)
  const here = page.locator('section', { has: page.getByRole('heading', { name: 'Assets here' }) })
  const events = page.locator('section', { has: page.getByRole('heading', { name: 'Arrivals and departures' }) })
  await here.getByRole('button', { name: '2', exact: true }).click()
  await expect(page).toHaveURL(/\?page=2$/)
  await events.getByRole('button', { name: '2', exact: true }).click()
  await expect(page).toHaveURL(/\?page=2&events=2$/)
  await page.reload()
  await expect(here.getByText('16–24 of 24 assets')).toBeVisible()
  await expect(events.getByText(/^16–/)).toBeVisible()
  await page.getByRole('switch', { name: 'Include locations below' }).click()
  await expect(page).toHaveURL(/\?below=no$/)
  await page.reload()
  await expect(page.getByRole('switch', { name: 'Include locations below' })).not.toBeChecked()
  await expect(page.getByText('No assets were last seen here')).toBeVisible()
})

test('Thirty thousand locations below one are put in order within two seconds', () => {
  const location = (index: number) => ({
    location_id: index + 1,
    external_key: `L-${index}`,
    name: `Shelf ${index}`,
    parent_id: index === 0 ? null : 1,
    here: 0,
    here_with_subtree: 0,
  })
  const locations = Array.from({ length: 30_000 }, (_, index) => location(index)) as LocationCount[]
  const started = performance.now()
  const rows = treeRows(locations, new Set())
  expect(rows).toHaveLength(30_000)
  expect(performance.now() - started).toBeLessThan(2000)
})
