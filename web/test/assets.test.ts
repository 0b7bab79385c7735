import { openSearch } from './support/navigation.ts'
import { Org, url, warehouse } from './support/org.ts'
import { expect, test } from './support/test.ts'
import { expectAccessible } from './support/page-checks.ts'

test('The asset table searches, sorts and paginates on the server, and the URL holds its state', async ({ page }) => {
  const org = await Org.create()
  await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      org.asset(`Thing ${String(index).padStart(2, '0')}`, { external_key: `T-${String(99 - index)}` }),
    ),
  )
  await org.signIn(page, org.email, '/assets')
  const rows = page.getByRole('table', { name: 'Assets' }).getByRole('row')
  await expect(rows).toHaveCount(26)
  await expect(page.getByText('1–25 of 30 assets')).toBeVisible()
  await page.getByRole('button', { name: 'Name' }).click()
  await expect(page).toHaveURL(/sort=name/)
  await expect(rows.nth(1)).toContainText('Thing 00')
  await page.getByRole('button', { name: 'Name' }).click()
  await expect(rows.nth(1)).toContainText('Thing 29')
  await page.getByRole('button', { name: '2', exact: true }).click()
  await expect(page).toHaveURL(/page=2/)
  await expect(rows).toHaveCount(6)
  await page.getByLabel('Search assets').fill('thing 1')
  await expect(page).toHaveURL(/q=thing(\+|%20)1/)
  await expect(rows).toHaveCount(11)
  await page.reload()
  await expect(page.getByLabel('Search assets')).toHaveValue('thing 1')
  await expect(rows).toHaveCount(11)
})

test('With a location selected, the table shows the assets there', async ({ page }) => {
  const { org, hall, dock } = await warehouse()
  await org.signIn(page, org.email, `/assets?location=${hall.id}`)
  const rows = page.getByRole('table', { name: 'Assets' }).getByRole('row')
  await expect(rows).toHaveCount(4)
  await page.goto(`${url()}/assets?location=${dock.id}`)
  await expect(rows).toHaveCount(2)
  await expect(rows.nth(1)).toContainText('Crate 2')
})

test('Search, location and state filter the asset table together, and the table stays sortable', async ({ page }) => {
  const { org, hall, site, assets } = await warehouse()
  await org.patch(`/assets/${assets[2]!.id}`, { is_active: false, description: 'Spare part' })
  await org.patch(`/assets/${assets[4]!.id}`, { is_active: false, description: 'Spare part' })
  await org.signIn(page, org.email, `/assets?location=${hall.id}`)
  const rows = page.getByRole('table', { name: 'Assets' }).getByRole('row')
  await expect(rows).toHaveCount(4)
  await page.getByText('Inactive', { exact: true }).click()
  await expect(page).toHaveURL(/active=no/)
  await expect(rows).toHaveCount(2)
  await expect(rows.nth(1)).toContainText('Crate 3')
  await expect(rows.nth(1)).toContainText('Hall A')
  await page.getByLabel('Search assets').fill('spare')
  await expect(page).toHaveURL(/q=spare/)
  await expect(rows).toHaveCount(2)
  await page.goto(`${url()}/assets?location=${site.id}&active=yes`)
  await expect(rows).toHaveCount(4)
  await page.getByRole('button', { name: 'Name' }).click()
  await expect(rows.nth(1)).toContainText('Crate 1')
  await page.getByRole('button', { name: 'Name' }).click()
  await expect(page).toHaveURL(/sort=-name/)
  await expect(rows.nth(1)).toContainText('Crate 4')
  await expect(rows.nth(3)).toContainText('Crate 1')
})

test('A page number beyond the end of a list shows the last page', async ({ page }) => {
  const org = await Org.create()
  await Promise.all(Array.from({ length: 30 }, (_, index) => org.asset(`Thing ${index}`)))
  await org.signIn(page, org.email, '/assets?page=99')
  await expect(page.getByText('26–30 of 30 assets')).toBeVisible()
  await expect(page.getByRole('table', { name: 'Assets' }).getByRole('row')).toHaveCount(6)
  await expect(page).toHaveURL(/page=2$/)
})

test('Parameters of a URL that are not valid are ignored and removed from it', async ({ page }) => {
  const { org } = await warehouse()
  await org.signIn(page, org.email, '/assets?page=-3&sort=colour&active=maybe&location=x&q=crate')
  await expect(page.getByRole('table', { name: 'Assets' }).getByRole('row')).toHaveCount(7)
  await expect(page.getByText('6 assets', { exact: true })).toBeVisible()
  await expect(page).toHaveURL(/\/assets\?q=crate$/)
})

test('The list of unseen assets beyond its last page never claims that every asset was seen', async ({ page }) => {
  const org = await Org.create()
  await Promise.all(Array.from({ length: 30 }, (_, index) => org.asset(`Thing ${index}`)))
  const empty: string[] = []
  await page.exposeFunction('reportEmpty', (text: string) => empty.push(text))
  await page.addInitScript(() => {
    const { reportEmpty } = globalThis as unknown as { reportEmpty: (text: string) => void }
    new MutationObserver(() => {
      const text = document.body?.innerText ?? ''
      if (text.includes('Every asset was seen')) reportEmpty(text)
    }).observe(document, { subtree: true, childList: true })
  })
  await org.signIn(page, org.email, '/unseen?show=never&page=99')
  await expect(page.getByText('26–30 of 30 assets')).toBeVisible()
  expect(empty).toEqual([])
})

test('A URL with an id that is not a number shows the page for unknown URLs and requests nothing', async ({ page }) => {
  const org = await Org.create()
  await org.signIn(page)
  const requested: string[] = []
  page.on('request', (request) => requested.push(request.url()))
  for (const path of ['/assets/abc', '/locations/abc', '/readers/abc']) {
    await page.goto(url() + path)
    await expect(page.getByRole('heading', { level: 1, name: 'Page not found' })).toBeVisible()
    await expect(page.getByRole('button', { name: 'Account menu' })).toBeVisible()
  }
  expect(requested.filter((one) => one.includes('NaN') || /v1.*abc/.test(one))).toEqual([])
})

test('After the deletion of every asset of a page, the page says so and leads to the others', async ({ page }) => {
  const org = await Org.create()
  await Promise.all(
    Array.from({ length: 27 }, (_, index) => org.asset(`Thing ${index}`, { external_key: `T-${100 + index}` })),
  )
  await org.signIn(page, org.email, '/assets')
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
  await page.getByRole('button', { name: 'Actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete 25 assets' }).click()
  await expect(page.getByText('All assets of this page will be deleted')).toBeVisible()
  await page.getByRole('button', { name: '2', exact: true }).click()
  await expect(page.getByRole('table', { name: 'Assets' }).getByRole('row')).toHaveCount(3)
  await page.getByRole('button', { name: 'Undo' }).click()
})

test('While the positions of assets load or cannot be loaded, the list does not call them never seen', async ({
  page,
  context,
}) => {
  const { org } = await warehouse()
  let respond = (): void => undefined
  const held = new Promise<void>((resolve) => (respond = resolve))
  await context.route('**/reports/asset-locations**', async (route) => {
    await held
    await route.fulfill({ status: 400, json: {} })
  })
  await org.signIn(page, org.email, '/assets')
  const table = page.getByRole('table', { name: 'Assets' })
  await expect(table).toContainText('Crate 6')
  await expect(table).not.toContainText('Never seen')
  respond()
  await expect(page.getByRole('alert')).toBeVisible()
  await expect(table).not.toContainText('Never seen')
  await context.unrouteAll()
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(table.getByRole('row', { name: /Crate 6/ })).toContainText('Never seen')
  await expect(page.getByRole('alert')).toHaveCount(0)
})

test('Five deletions one after the other can each be undone from one message', async ({ page }) => {
  const { org } = await warehouse()
  await org.signIn(page, org.email, '/assets')
  const table = page.getByRole('table', { name: 'Assets' })
  for (const number of [1, 2, 3, 4, 5]) {
    await table.getByRole('link', { name: `Crate ${number}` }).click()
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete asset' }).click()
    await expect(page.getByText(new RegExp(`Crate ${number} will be deleted in`))).toBeVisible()
  }
  await expect(page.getByRole('button', { name: 'Undo' })).toHaveCount(5)
  await page.getByRole('button', { name: 'Undo' }).last().click()
  await expect(table).toContainText('Crate 5')
  await expect(page.getByRole('button', { name: 'Undo' })).toHaveCount(4)
})

test('The rows of a location stay in place while the pointer is over the table', async ({ page }) => {
  const { org, hall, reader, tag } = await warehouse()
  await org.signIn(page, org.email, `/assets?location=${hall.id}`)
  const rows = page.getByRole('table', { name: 'Assets' }).getByRole('row')
  await expect(rows).toHaveCount(4)
  await expect(page.locator('[data-live=live]')).toBeVisible()
  await rows.nth(1).hover()
  const refreshed = page.waitForResponse(/\/overview/)
  await org.read(reader.token, [{ tag: tag(5), antenna: 1 }])
  await refreshed
  await expect(rows).toHaveCount(4)
  await page.getByRole('heading', { level: 1 }).hover()
  await expect(rows).toHaveCount(5)
})

test('An asset page shows the current location, the duration and the history', async ({ page }) => {
  const { org, assets } = await warehouse()
  await org.signIn(page, org.email, `/assets/${assets[0]!.id}`)
  const now = page.locator('section', { has: page.getByRole('heading', { name: 'Current location' }) })
  await expect(now).toContainText('Hall A')
  await expect(now).toContainText(/2\d min/)
})

test('The history lists stays with their minutes on demand, and its chart can be zoomed and moved', async ({
  page,
}) => {
  const { org, assets } = await warehouse()
  await org.signIn(page, org.email, `/assets/${assets[0]!.id}`)
  const stays = page.getByRole('list', { name: 'Stays' }).getByRole('listitem')
  await expect(stays).toHaveCount(3)
  // Hall A for two hours, Dock 1 for 40 minutes, and Hall A again for 20 minutes.
  await expect(stays.nth(0)).toContainText(/Hall A, since \d\d:\d\d, 2\d min/)
  await expect(stays.nth(1)).toContainText(/Dock 1, .*\d\d:\d\d.*–.*\d\d:\d\d, 40 min/)
  await expect(stays.nth(2)).toContainText(/Hall A, .*, 2 h/)
  const chart = page.getByRole('img', { name: 'Locations: Hall A, Dock 1' })
  const colors = await chart.locator('rect').evaluateAll((bars) => bars.map((bar) => getComputedStyle(bar).fill))
  expect(new Set(colors).size).toBe(1)
  await page.getByRole('button', { name: 'Show the minutes at Dock 1' }).click()
  await expect(page.getByRole('list', { name: 'Minutes with a sighting' }).getByRole('listitem')).toHaveCount(1)
  for (let times = 0; times < 3; times++) await page.getByRole('button', { name: 'Zoom in' }).click()
  // The last three hours: the bars are wide enough for the names of their locations.
  await expect(chart.getByText('Dock 1')).toBeVisible()
  await page.getByRole('button', { name: 'Earlier' }).click()
  await page.getByRole('button', { name: 'Earlier' }).click()
  await expect(page.getByText('Not seen in this period.')).toBeVisible()
  await page.getByRole('button', { name: 'Later' }).click()
  await page.getByRole('button', { name: 'Later' }).click()
  await expect(stays.nth(1)).toContainText('Dock 1')
  await page.getByText('Month', { exact: true }).click()
  await expect(stays).toHaveCount(3)
})

test('The length of a stay is the difference of its displayed times', async ({ page }) => {
  const { org, assets, reader, tag } = await warehouse()
  const minute = Math.floor(Date.now() / 60_000 - 60) * 60_000
  for (const [antenna, seconds] of [
    [1, 50],
    [2, 190],
  ] as const) {
    const observed_at = new Date(minute + seconds * 1000).toISOString()
    await org.read(reader.token, [{ tag: tag(6), antenna, observed_at }])
  }
  await org.signIn(page, org.email, `/assets/${assets[5]!.id}`)
  const stays = page.getByRole('list', { name: 'Stays' }).getByRole('listitem')
  await expect(stays.last()).toContainText(/Hall A, .*, 3 min/)
})

test('The URL of an asset holds the period of its history, and the labels of the chart are round and never collide', async ({
  page,
}) => {
  const { org, assets } = await warehouse()
  await org.signIn(page, org.email, `/assets/${assets[0]!.id}`)
  const chart = page.getByRole('img', { name: 'Locations: Hall A, Dock 1' })
  const labels = chart.locator('[data-axis=time] text')
  for (const view of ['Day', 'Week', 'Month'])
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 })
      await page.getByText(view, { exact: true }).click()
      await expect(page.getByRole('radio', { name: view })).toBeChecked()
      await expect(labels.first()).toBeVisible()
      const boxes = await labels.evaluateAll((texts) =>
        texts.map((text) => [text.getBoundingClientRect().left, text.getBoundingClientRect().right] as const),
      )
      expect(boxes.length, `${view} at ${width} px`).toBeGreaterThan(1)
      for (const [index, [left]] of boxes.slice(1).entries())
        expect(left, `${view} at ${width} px`).toBeGreaterThan(boxes[index]![1] + 2)
      for (const text of await labels.allTextContents())
        expect(text, `${view} at ${width} px`).toMatch(/^(\d\d:00|\d{1,2} \w{3,4})$/)
    }
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.getByText('Week', { exact: true }).click()
  await expect(page).toHaveURL(/\?minutes=10080$/)
  await page.getByRole('button', { name: 'Earlier' }).click()
  await expect(page).toHaveURL(/minutes=10080&until=/)
  await page.reload()
  await expect(page.getByRole('radio', { name: 'Week' })).toBeChecked()
  await expect(page.getByText('Not seen in this period.')).toBeVisible()
})

test('The controls of the history are in one row, or on a phone in two', { tag: '@phone' }, async ({ page }) => {
  const { org, assets } = await warehouse()
  await org.signIn(page, org.email, `/assets/${assets[0]!.id}`)
  const card = page.locator('section', { has: page.getByRole('heading', { name: 'History' }) })
  const isPhone = page.viewportSize()!.width < 600
  for (const width of isPhone ? [360, 320] : [1280]) {
    await page.setViewportSize({ width, height: 740 })
    await expect(card.getByRole('img', { name: /^Locations: / })).toBeVisible()
    const right = await card.evaluate((one) => one.getBoundingClientRect().right)
    const middles: number[] = []
    for (const name of ['Zoom out', 'Zoom in', 'Earlier', 'Later']) {
      const box = (await card.getByRole('button', { name }).boundingBox())!
      expect(box.x + box.width, `${name} at ${width} px`).toBeLessThan(right)
      middles.push(Math.round(box.y + box.height / 2))
    }
    const [zoomOut, zoomIn, earlier, later] = middles
    expect([zoomIn, later], `rows at ${width} px`).toEqual([zoomOut, earlier])
    expect(new Set(middles).size, `rows at ${width} px`).toBe(isPhone ? 2 : 1)
  }
})

test('When the newer version of an asset cannot be loaded, saving says so and keeps the input', async ({
  page,
  context,
}) => {
  const org = await Org.create()
  const asset = await org.asset('Old name')
  await org.signIn(page, org.email, `/assets/${asset.id}`)
  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Description').fill('Mine')
  await org.patch(`/assets/${asset.id}`, { name: 'Their name' })
  await context.route(`**/api/v1/assets/${asset.id}`, (route) =>
    route.request().method() === 'GET' ? route.fulfill({ status: 400, json: {} }) : route.fallback(),
  )
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(dialog.getByRole('alert')).toContainText('The server rejected this')
  await context.unrouteAll()
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(dialog).toHaveCount(0)
  expect(await org.get(`/assets/${asset.id}`)).toMatchObject({ name: 'Their name', description: 'Mine' })
})

test('Neither Ctrl+K, nor the browser’s Back, nor closing the window discards the input of a dialog', async ({
  page,
}) => {
  const org = await Org.create()
  await org.asset('Ladder')
  await org.signIn(page, org.email, '/locations')
  const field = await openSearch(page)
  await field.fill('create asset')
  await expect(page.getByRole('dialog').locator('[data-selected]')).toContainText('Create asset')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Create asset' })
  const name = dialog.getByLabel('Name')
  await name.fill('Forklift')
  await page.keyboard.press('Control+k')
  await expect(page.getByPlaceholder('Search by name, key or tag')).toHaveCount(0)

  const question = page.getByRole('dialog', { name: 'Discard your input?' })
  await page.evaluate(() => history.back())
  await question.getByRole('button', { name: 'Keep editing' }).click()
  await expect(page).toHaveURL(/\/assets\?create=yes$/)
  await expect(name).toHaveValue('Forklift')

  const asked = page.waitForEvent('dialog')
  const closing = page.close({ runBeforeUnload: true })
  const leave = await asked
  expect(leave.type()).toBe('beforeunload')
  await leave.dismiss()
  await closing
  await expect(name).toHaveValue('Forklift')

  await page.evaluate(() => history.back())
  await question.getByRole('button', { name: 'Discard' }).click()
  await expect(page).toHaveURL(/\/locations$/)
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.getByRole('link', { name: 'Assets', exact: true }).click()
  await page.getByRole('button', { name: 'Create asset' }).click()
  await expect(name).toHaveValue('')
  await name.fill('Crane')
  await dialog.getByRole('button', { name: 'Create asset' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Crane' })).toBeVisible()
})

test('An end that is not set looks like a placeholder, not like a value', async ({ page }) => {
  const org = await Org.create()
  const asset = await org.asset('Ladder')
  await org.signIn(page, org.email, `/assets/${asset.id}`)
  await page.getByRole('button', { name: 'Edit' }).click()
  await expect(page.getByRole('dialog').getByText('No end')).toHaveCSS('font-style', 'italic')
})

test('When two users change different fields of an asset, both changes are kept', async ({ page }) => {
  const org = await Org.create()
  const asset = await org.asset('Old name', { metadata: { owner: 'dock 3', spare: 1, size: { width: 1, height: 1 } } })
  await org.signIn(page, org.email, `/assets/${asset.id}`)
  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Metadata').fill('{"owner": "dock 4", "spare": 1, "size": {"width": 2, "height": 1}}')
  await dialog.getByLabel('Description').fill('Mine')
  await org.patch(`/assets/${asset.id}`, { name: 'Their name', metadata: { spare: null, size: { height: 3 } } })
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(dialog).toHaveCount(0)
  expect(await org.get(`/assets/${asset.id}`)).toMatchObject({
    name: 'Their name',
    description: 'Mine',
    metadata: { owner: 'dock 4', size: { width: 2, height: 3 } },
  })
  await expect(page.getByRole('heading', { level: 1, name: 'Their name' })).toBeVisible()
})

test('When two users change the same field of an asset, the second decides about that field alone', async ({
  page,
}) => {
  const org = await Org.create()
  const asset = await org.asset('Old name', { metadata: { owner: 'dock 3' } })
  await org.signIn(page, org.email, `/assets/${asset.id}`)
  const dialog = page.getByRole('dialog')
  const conflict = dialog.getByRole('alert')
  const editName = async (name: string): Promise<void> => {
    await page.getByRole('button', { name: 'Edit' }).click()
    await dialog.getByLabel('Name').fill(name)
  }
  await editName('My name')
  await org.patch(`/assets/${asset.id}`, { name: 'Their name', description: 'Their description' })
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(conflict).toContainText('Another user changed the same field')
  await expect(conflict.getByRole('listitem')).toHaveText(['Name: yours “My name”, theirs “Their name”'])
  await expectAccessible(page, '[role=dialog]')
  await dialog.getByRole('button', { name: 'Use theirs' }).click()
  await expect(dialog.getByLabel('Name')).toHaveValue('Their name')
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(dialog).toHaveCount(0)

  await editName('My other name')
  await org.patch(`/assets/${asset.id}`, { name: 'Their other name', metadata: { owner: 'dock 5' } })
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await dialog.getByRole('button', { name: 'Overwrite with mine' }).click()
  await expect(dialog).toHaveCount(0)
  expect(await org.get(`/assets/${asset.id}`)).toMatchObject({
    name: 'My other name',
    description: 'Their description',
    metadata: { owner: 'dock 5' },
  })
})

test('Metadata with an inexact number is rejected at the field and keeps the typed text [D47]', async ({ page }) => {
  const org = await Org.create()
  const asset = await org.asset('Crate', { metadata: { serial: 1 } })
  await org.signIn(page, org.email, `/assets/${asset.id}`)
  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog')
  const metadata = dialog.getByLabel('Metadata')
  const typed = '{"sizes":[2,9007199254740993]}'
  await metadata.fill(typed)
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(dialog.getByText('Metadata.sizes[1] contains a number that cannot be stored exactly')).toBeVisible()
  await expect(metadata).toHaveValue(typed)
  expect(((await org.get(`/assets/${asset.id}`)) as { metadata: object }).metadata).toEqual({ serial: 1 })
  await metadata.fill('{"serial":')
  await dialog.getByLabel('Description').focus()
  await expect(dialog.getByText('This is not valid JSON')).toBeVisible()
  await metadata.fill('{"serial":9007199254740992}')
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(dialog).toHaveCount(0)
  const saved = (await org.get(`/assets/${asset.id}`)) as { metadata: object }
  expect(saved.metadata).toEqual({ serial: 9007199254740992 })
})

test('Edited metadata is saved with the first click, and invalid JSON is reported under the field', async ({
  page,
}) => {
  const org = await Org.create()
  const asset = await org.asset('Crate')
  await org.signIn(page, org.email, `/assets/${asset.id}`)
  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog')
  const metadata = dialog.getByLabel('Metadata')
  const save = dialog.getByRole('button', { name: 'Save', exact: true })
  await metadata.fill('{"a":')
  await save.click()
  await expect(metadata).toHaveAccessibleDescription(/This is not valid JSON/)
  await metadata.fill('{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8}')
  await save.click()
  await expect(dialog).toHaveCount(0, { timeout: 20_000 })
  const saved = (await org.get(`/assets/${asset.id}`)) as { metadata: object }
  expect(saved.metadata).toEqual({ a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8 })
})

test('A dialog with typed input asks before Escape discards it', async ({ page }) => {
  const org = await Org.create()
  await org.signIn(page, org.email, '/assets')
  const open = page.getByRole('button', { name: 'Create asset' }).first()
  const dialog = page.getByRole('dialog', { name: 'Create asset' })
  const question = page.getByRole('dialog', { name: 'Discard your input?' })
  const name = dialog.getByLabel('Name')
  await open.click()
  await expect(name).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)
  await open.click()
  await name.fill('Forklift')
  await page.keyboard.press('Escape')
  await expect(question).toBeVisible({ timeout: 15_000 })
  await page.keyboard.press('Escape')
  await expect(question).toHaveCount(0)
  await expect(name).toHaveValue('Forklift')
  // A key that is pressed while the question closes has no effect.
  await expect(async () => {
    await page.keyboard.press('Escape')
    await expect(question).toBeVisible({ timeout: 3000 })
  }).toPass()
  await question.getByRole('button', { name: 'Keep editing' }).click()
  await expect(name).toHaveValue('Forklift')
  await dialog.getByRole('button', { name: 'Close' }).click()
  await question.getByRole('button', { name: 'Discard' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await open.click()
  await expect(name).toHaveValue('')
})

test('A key or tag conflict is reported under its field, with a link to the owner', async ({ page }) => {
  const org = await Org.create()
  const owner = await org.asset('The owner', { external_key: 'A-1', tags: [{ tag_type: 'rfid', value: 'E2AA' }] })
  const hall = await org.location('Hall', { external_key: 'HALL' })
  await org.signIn(page, org.email, '/assets')
  await page.getByRole('button', { name: 'Create asset' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Second')
  await dialog.getByLabel('Key').fill('A-1')
  await dialog.getByRole('button', { name: 'Create asset' }).click()
  await expect(dialog.getByLabel('Key')).toHaveAccessibleDescription(/This key belongs to the asset The owner\./, {
    timeout: 20_000,
  })
  await expect(dialog.getByRole('link', { name: 'The owner' })).toHaveAttribute('href', `/assets/${owner.id}`)
  await expect(dialog).not.toContainText('external_key')
  await dialog.getByLabel('Key').fill('A-2')
  await dialog.getByLabel('Tag value').fill('e2aa')
  await dialog.getByRole('button', { name: 'Create asset' }).click()
  await expect(dialog.getByLabel('Tag value')).toHaveAccessibleDescription(
    /This tag is attached to the asset The owner/,
  )
  await expect(dialog.getByRole('link', { name: 'The owner' })).toHaveAttribute('href', `/assets/${owner.id}`)

  await page.goto(`${url()}/locations`)
  await page.getByRole('button', { name: 'Create location' }).first().click()
  await dialog.getByLabel('Name').fill('Second')
  await dialog.getByLabel('Key').fill('HALL')
  await dialog.getByRole('button', { name: 'Create location' }).click()
  await expect(dialog.getByLabel('Key')).toHaveAccessibleDescription(/This key belongs to the location Hall\./)
  await expect(dialog.getByRole('link', { name: 'Hall' })).toHaveAttribute('href', `/locations/${hall.id}`)
})

test('A key can be renamed, but not to an existing key', async ({ page }) => {
  const org = await Org.create()
  const asset = await org.asset('Crate', { external_key: 'A-1' })
  await org.asset('Other', { external_key: 'A-2' })
  await org.signIn(page, org.email, `/assets/${asset.id}`)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Rename the key' }).click()
  await page.getByRole('dialog').getByLabel('Key').fill('A-2')
  await page.getByRole('button', { name: 'Rename' }).click()
  await expect(page.getByText('This key belongs to the asset Other.')).toBeVisible()
  await page.getByRole('dialog').getByLabel('Key').fill('A-3')
  await page.getByRole('button', { name: 'Rename' }).click()
  await expect(page.getByText('A-3')).toBeVisible()
})

test('A tag conflict names the owner of the tag, and a detached tag can be attached again', async ({ page }) => {
  const org = await Org.create()
  const asset = await org.asset('Crate', { tags: [{ tag_type: 'barcode', value: '4006381333931' }] })
  await org.asset('The owner', { tags: [{ tag_type: 'rfid', value: 'E2AA' }] })
  await org.signIn(page, org.email, `/assets/${asset.id}`)
  await page.getByLabel('Tag value').fill('e2aa')
  await page.getByRole('button', { name: 'Attach' }).click()
  await expect(page.getByRole('link', { name: 'The owner' })).toBeVisible()
  await page.getByLabel('Tag value').fill('E2BB')
  await page.getByRole('button', { name: 'Attach' }).click()
  await expect(page.getByRole('button', { name: 'Detach E2BB' })).toBeVisible()
  await page.getByRole('button', { name: 'Detach 4006381333931' }).click()
  await expect(page.getByRole('button', { name: 'Detach 4006381333931' })).toHaveCount(0)
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByRole('button', { name: 'Detach 4006381333931' })).toBeVisible()
})

test('Selected assets are changed, exported, printed and deleted together; views keep order, filters and columns', async ({
  page,
}) => {
  const { org, hall, tag, reader } = await warehouse()
  await org.read(reader.token, [{ tag: tag(3), antenna: 2 }])
  await org.signIn(page, org.email, '/assets')
  const table = page.getByRole('table', { name: 'Assets' })
  const names = async (): Promise<string[]> => table.getByRole('link', { name: /^Crate/ }).allInnerTexts()
  const crates = (...numbers: number[]): string[] => numbers.map((number) => `Crate ${number}`)

  await table.getByRole('button', { name: 'Last seen', exact: true }).click()
  await expect(page).toHaveURL(/sort=last_seen_at/)
  // The order of the two assets that were never seen is that of their random ids.
  const seen = async (): Promise<string[]> => (await names()).slice(0, 4)
  await expect.poll(seen).toEqual(crates(4, 2, 1, 3))
  await table.getByRole('button', { name: 'Last seen', exact: true }).click()
  await expect.poll(seen).toEqual(crates(3, 1, 2, 4))
  expect((await names()).slice(4).sort()).toEqual(crates(5, 6))
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('checkbox', { name: 'Tags' }).uncheck()
  await expect(table.getByRole('columnheader', { name: 'Tags' })).toHaveCount(0)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('menuitem', { name: 'Save this view' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Latest first')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('button', { name: 'Latest first' })).toBeVisible()

  const boxOf = (number: number) => page.getByRole('checkbox', { name: `Select Crate ${number}` })
  for (const number of [4, 5]) await boxOf(number).check()
  const bar = page.getByRole('region', { name: 'Selected assets' })
  await expect(bar).toContainText('2 assets selected')
  await expectAccessible(page)
  await bar.getByRole('button', { name: 'Set location' }).click()
  await page.getByRole('dialog').getByRole('combobox', { name: 'Location' }).fill('Riverside')
  await page.getByRole('option', { name: /Riverside/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Set location' }).click()
  await expect(page.getByText('2 assets are at Riverside now.')).toBeVisible()
  await expect(table.getByRole('row', { name: /Crate 5/ })).toContainText('Riverside')

  const choose = async (action: string): Promise<void> => {
    await bar.getByRole('button', { name: 'Actions' }).click()
    await page.getByRole('menuitem', { name: action }).click()
  }
  const [file] = await Promise.all([page.waitForEvent('download'), choose('Export CSV')])
  const csv = Buffer.concat(await (await file.createReadStream()).toArray()).toString('utf8')
  expect(
    csv
      .trim()
      .split('\r\n')
      .map((line) => line.split(',')[0])
      .slice(1)
      .sort(),
  ).toEqual(['CRATE-4', 'CRATE-5'])
  await choose('Deactivate')
  await expect(page.getByText('2 of 2 assets deactivated.')).toBeVisible()
  await expect(table.getByText('inactive', { exact: true }).filter({ visible: true })).toHaveCount(2)
  await expect(bar).toHaveCount(0)
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
  await expect(bar).toContainText('6 assets selected')
  await boxOf(1).uncheck()
  await choose('Delete')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete 5 assets' }).click()
  await expect(page.getByText(/5 assets will be deleted in \d+ s/)).toBeVisible()
  await expect.poll(names).toEqual(crates(1))
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(async () => (await names()).length).toBe(6)

  await boxOf(6).check()
  await choose('Print labels')
  await expect(page).toHaveURL(/\/labels/)
  await expect(page.getByRole('img', { name: 'First page with labels of 1 asset' })).toBeVisible()

  // The view belongs to the user, not to the browser.
  await page.evaluate(() => localStorage.clear())
  await org.signIn(page, org.email, `/assets?location=${hall.id}`)
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('menuitem', { name: 'Latest first' }).click()
  await expect(page).toHaveURL(/sort=-last_seen_at/)
  await expect(table.getByRole('columnheader', { name: 'Tags' })).toHaveCount(0)
  await expect.poll(async () => (await names()).length).toBe(6)
  await page.getByRole('button', { name: 'Latest first' }).click()
  await page.getByRole('button', { name: 'Delete the view Latest first' }).click()
  await expect(page.getByText('No saved views yet')).toBeVisible()
  await page.getByRole('menuitem', { name: 'Reset view' }).click()
  await expect(page).toHaveURL(/\/assets$/)
})

test('An operator sets the location of an asset; a deletion can be undone for 30 seconds and is sent when the user leaves', async ({
  page,
}) => {
  const { org, dock, assets } = await warehouse()
  const [crate, other] = [assets[5]!, assets[4]!]
  await org.signIn(page, await org.member('operator'), `/assets/${crate.id}`)
  await expect(page.getByText('Never seen.').first()).toBeVisible()
  await page.getByRole('button', { name: 'Set location' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'Location' }).fill('Dock')
  await page.getByRole('option', { name: /Dock 1/ }).click()
  await dialog.getByLabel('Note').fill('Left wheel is broken')
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Keep editing' }).click()
  await dialog.getByRole('button', { name: 'Set location' }).click()
  await expect(page.getByText('Crate 6 is at Dock 1 now.')).toBeVisible()
  await expect(page.getByRole('main').getByRole('link', { name: 'Dock 1' }).first()).toBeVisible()
  const note = page.getByRole('list', { name: 'Stays' }).getByRole('list', { name: 'Notes' }).getByRole('listitem')
  await expect(note).toContainText('Left wheel is broken')
  await expect(note).toContainText('@')
  expect(await org.get(`/reports/asset-locations?asset_id=${crate.id}`)).toMatchObject([{ location_id: dock.id }])

  await org.signIn(page, org.email, `/assets/${crate.id}`)
  const remove = async (): Promise<void> => {
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete asset' }).click()
    await expect(page).toHaveURL(/\/assets$/)
  }
  const rows = page.getByRole('table', { name: 'Assets' }).getByRole('row')
  await remove()
  await expect(page.getByText(/Crate 6 will be deleted in \d+ s/)).toBeVisible()
  await expect(rows).toHaveCount(6)
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(rows).toHaveCount(7)
  expect(await org.get(`/assets/${crate.id}`)).toMatchObject({ name: 'Crate 6' })

  await page.getByRole('link', { name: 'Crate 6' }).click()
  await remove()
  await page.getByRole('button', { name: 'Delete now' }).click()
  await expect(page.getByText(/will be deleted/)).toHaveCount(0)
  await expect.poll(() => org.get('/assets')).toHaveLength(5)

  // The page is left before the 30 seconds have passed.
  await page.getByRole('link', { name: 'Crate 5' }).click()
  await remove()
  await expect(rows).toHaveCount(5)
  expect(await org.get('/assets')).toHaveLength(5)
  await page.goto('about:blank')
  await expect.poll(() => org.get('/assets')).toHaveLength(4)
  await page.goto(`${url()}/assets/${other.id}`)
  await expect(page.getByRole('heading', { level: 1, name: 'Asset' })).toBeVisible()
  await expect(page.getByRole('alert')).toContainText('This record does not exist or was deleted')
  await expect(page.getByRole('alert')).toContainText(/Request ID [0-9A-Z]{26}/)
})

test('Markup in any field is shown as text', async ({ page }) => {
  const markup = '<img src=x onerror="window.__hit=1"><script>window.__hit=1</script>{{7*7}}'
  const org = await Org.create(markup)
  const location = await org.location(markup, { external_key: markup, description: markup })
  const asset = await org.asset(markup, {
    external_key: markup,
    description: markup,
    metadata: { [markup]: markup },
    tags: [{ tag_type: 'barcode', value: markup }],
  })
  const reader = await org.reader(markup, [location.id])
  await org.read(reader.token, [{ tag: 'E2AA', antenna: 1 }])
  const paths = [
    '/',
    '/assets',
    `/assets/${asset.id}`,
    '/locations',
    `/locations/${location.id}`,
    '/readers',
    `/readers/${reader.id}`,
    '/readers/inbox',
    '/labels',
    '/reports',
    `/scan?location=${location.id}`,
    '/settings/account',
    '/settings/api-keys',
  ]
  await org.post(`/orgs/${String(((await org.get('/auth/me')) as { org: { id: number } }).org.id)}/api-keys`, {
    name: markup,
    scopes: ['assets:read'],
  })
  await org.signIn(page)
  for (const path of paths) {
    await page.goto(url() + path)
    await expect(page.getByText('onerror').or(page.locator('input[value*=onerror]')).first()).toBeAttached()
    expect(await page.evaluate(() => (window as { __hit?: number }).__hit)).toBeUndefined()
    expect(await page.locator('img[src=x]').count()).toBe(0)
  }
  await (await openSearch(page)).fill('onerror')
  await expect(page.getByRole('dialog').getByText('onerror').first()).toBeVisible()
  expect(await page.evaluate(() => (window as { __hit?: number }).__hit)).toBeUndefined()
})
