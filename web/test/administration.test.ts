import { readFileSync } from 'node:fs'
import { inflateSync } from 'node:zlib'
import { PDFDocument } from 'pdf-lib'
import { goToPage } from './support/navigation.ts'
import { Org, call, url, warehouse } from './support/org.ts'
import { expect, test } from './support/test.ts'
import { expectAccessible } from './support/page-checks.ts'

test('An API key is created with a level per resource, is shown once, and can be revoked', async ({ page }) => {
  const org = await Org.create()
  await org.signIn(page)
  await page.getByRole('button', { name: 'Account menu' }).click()
  await page.getByRole('menuitem', { name: 'API keys' }).click()
  await page.getByRole('button', { name: 'New key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('ERP sync')
  await dialog.getByRole('radiogroup', { name: 'Assets' }).getByText('Read + write').click()
  await dialog.getByRole('radiogroup', { name: 'Locations' }).getByText('None').click()
  await expect(dialog.getByRole('radiogroup', { name: 'Tracking' }).getByText('Read + write')).toHaveCount(0)
  await expect(dialog.getByRole('radiogroup', { name: 'Expires' }).getByLabel('Never')).toBeChecked()
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await expect(dialog.getByText('Shown only once')).toBeVisible()
  const [id, secret] = await dialog.locator('pre').allInnerTexts()
  expect(secret).toMatch(/^ls_[0-9a-f]{64}$/)
  const grant = { grant_type: 'client_credentials', client_id: id, client_secret: secret }
  const exchange = (): Promise<Response> =>
    fetch(`${url()}/api/v1/oauth/token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'User-Agent': 'erp' },
      body: JSON.stringify(grant),
    })
  expect((await exchange()).status).toBe(200)
  await dialog.getByRole('button', { name: 'I have saved it' }).click()
  const row = page.getByRole('row', { name: /ERP sync/ })
  for (const scope of ['assets:read', 'assets:write', 'tracking:read']) await expect(row).toContainText(scope)
  await expect(row).not.toContainText('locations')
  await expect(page.getByText(secret!)).toHaveCount(0)
  await row.getByRole('button', { name: 'Revoke ERP sync' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click()
  await expect(page.getByText('No keys yet')).toBeVisible()
  expect((await exchange()).status).toBe(401)
})

test('A secret that is shown once asks before Escape closes it', async ({ page }) => {
  const org = await Org.create()
  await org.signIn(page, org.email, '/settings/api-keys')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('ERP sync')
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  const secrets = page.getByRole('dialog', { name: 'ERP sync' })
  await expect(secrets.getByText('Shown only once')).toBeVisible()
  await page.keyboard.press('Escape')
  const question = page.getByRole('dialog', { name: 'Close without copying?' })
  await expect(question).toBeVisible({ timeout: 15_000 })
  await question.getByRole('button', { name: 'Go back' }).click()
  await expect(question).toHaveCount(0)
  await expect(secrets.getByText('Shown only once')).toBeVisible()
  await secrets.getByRole('button', { name: 'I have saved it' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
})

test('A new reader has antennas and a token that is shown once, also in the device settings', async ({ page }) => {
  const { org } = await warehouse()
  await org.signIn(page, org.email, '/readers')
  await page.getByRole('button', { name: 'Create reader' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Dock gate')
  await dialog.getByRole('combobox', { name: 'Location of antenna 1' }).fill('dock')
  await page.getByRole('option', { name: /Dock 1/ }).click()
  await dialog.getByRole('button', { name: 'Create reader' }).click()
  await expect(dialog.getByText('Shown only once')).toBeVisible()
  const [token, snippet] = await dialog.locator('pre').allInnerTexts()
  expect(snippet).toContain(token)
  await dialog.getByRole('combobox', { name: 'Device' }).click()
  await page.getByRole('option', { name: /Impinj/ }).click()
  await expect(dialog.locator('pre').nth(1)).toContainText('/ingest/v1/reads')
  await dialog.getByRole('button', { name: 'I have saved it' }).click()
  const row = page.getByRole('row', { name: /Dock gate/ })
  await expect(row).toContainText('never connected')
  await org.read(token!, [{ tag: 'E20000000000000000000004', antenna: 1 }])
  await expect(row).toContainText('reporting')
})

test('A reader page shows live reads and the device settings without the token', async ({ page }) => {
  const { org, reader, tag } = await warehouse()
  await org.signIn(page, org.email, `/readers/${reader.id}`)
  const reads = page.getByRole('table', { name: 'Live reads' })
  await expect(reads).toContainText('Crate 1')
  await org.read(reader.token, [{ tag: tag(5), antenna: 2, rssi: -61.5 }])
  await expect(reads.getByRole('row').nth(1)).toContainText(/Crate 5.*2\s*-61.5 dBm/s)
  await org.read(reader.token, [{ tag: '<img src=x onerror=alert(1)>', antenna: 7 }])
  await expect(reads.getByRole('row').nth(1)).toContainText('<img src=x onerror=alert(1)>')
  await expect(reads.getByRole('row').nth(1)).toContainText('Unassigned')
  await expect(page.getByText('Reads from antennas that are not listed: 7 (1 read)')).toBeVisible()
  await page.getByRole('combobox', { name: 'Device' }).click()
  await page.getByRole('option', { name: /Zebra RFD40/ }).click()
  await expect(page.locator('pre').last()).toContainText(
    new RegExp(`User name +${reader.id}\\s+Password +<the reader’s token>\\s+Topic +lastseen/[0-9a-f]{32}/reads`),
  )
  await expect(page.getByText(reader.token)).toHaveCount(0)
})

test('A tag attached from the inbox makes the asset seen where and when the tag was last read', async ({ page }) => {
  const { org, assets } = await warehouse()
  await org.signIn(page)
  await expect(page.getByRole('link', { name: /unassigned tag/ })).toBeVisible()
  await page.getByRole('link', { name: /unassigned tag/ }).click()
  await expect(
    page.getByText('This server hosts several organizations, so unregistered readers are not listed.'),
  ).toBeVisible()
  await page.getByRole('button', { name: 'Attach E2FFFFFFFFFFFFFFFFFFFFFF' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'Asset' }).fill('Crate 5')
  await page.getByRole('option', { name: /Crate 5/ }).click()
  await dialog.getByRole('button', { name: 'Attach' }).click()
  await expect(page.getByText(/is attached\. The asset was last seen 5 minutes ago\./)).toBeVisible()
  const found = (await call(org.token, 'POST', '/codes/resolve', { codes: ['E2FFFFFFFFFFFFFFFFFFFFFF'] })) as object[]
  expect(found[0]).toMatchObject({ kind: 'asset', name: 'Crate 5' })
  // The overview counts the tag no more, although its figures were loaded a moment ago.
  await goToPage(page, 'Overview')
  await expect(page.getByText('Assets per location')).toBeVisible()
  await expect(page.getByRole('link', { name: /unassigned tag/ })).toHaveCount(0, { timeout: 10_000 })
  await page.goto(`${url()}/assets/${assets[4]!.id}`)
  await expect(page.getByRole('link', { name: 'Hall A' }).first()).toBeVisible()
})

/** The drawing operators of a PDF: the text of every compressed stream. */
const contentStreams = (bytes: Buffer): string =>
  Array.from(bytes.toString('latin1').matchAll(/stream\r?\n([\s\S]*?)\r?\nendstream/g), ([, data]) =>
    inflateSync(Buffer.from(data!, 'latin1')).toString('latin1'),
  ).join('\n')

test('A manager replaces the token of a reader; the old one is rejected at once', async ({ page }) => {
  const { org, reader, tag } = await warehouse()
  await org.signIn(page, org.email, `/readers/${reader.id}`)
  await page.getByRole('button', { name: 'Replace token' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Replace token' }).click()
  const token = await page.getByRole('dialog', { name: 'Gate' }).locator('pre').first().innerText()
  expect(token).toMatch(/^lsd_/)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'I have saved it' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(org.read(reader.token, [{ tag: tag(1), antenna: 1 }])).rejects.toThrow('401')
  await org.read(token, [{ tag: tag(1), antenna: 1 }])
})

test('A manager replaces the token of a reader and lets the old one work for another hour', async ({ page }) => {
  const { org, reader, tag } = await warehouse()
  await org.signIn(page, org.email, `/readers/${reader.id}`)
  await page.getByRole('button', { name: 'Replace token' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'Old token' }).click()
  await page.getByRole('option', { name: 'Works for another hour' }).click()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Replace token' }).click()
  await expect(page.getByText(/^The old token works until /)).toBeVisible()
  const token = await page.getByRole('dialog', { name: 'Gate' }).locator('pre').first().innerText()
  for (const valid of [reader.token, token]) await org.read(valid, [{ tag: tag(1), antenna: 1 }])
})

test('Labels whose code is too dense to scan, or shows the key for want of a barcode, are named with the reason', async ({
  page,
}) => {
  const org = await Org.create()
  await org.asset('Short', { external_key: 'A-1', tags: [{ tag_type: 'barcode', value: '4006381333931' }] })
  await org.asset('Long', { external_key: `PALLET-${'0123456789'.repeat(3)}` })
  await org.asset('Löwe', { external_key: 'LÖWE' })
  await org.signIn(page, org.email, '/labels')
  const warnings = page.getByRole('status', { name: 'Warnings' })
  await expect(page.getByRole('img', { name: 'First page with labels of 3 assets' })).toBeVisible()
  await expect(warnings).toBeEmpty()
  await page.getByText('Code 128', { exact: true }).click()
  await expect(warnings).toContainText('1 label may not scan: the code is too dense')
  await expect(warnings).toContainText('Choose QR, or a sheet with larger labels.')
  await expect(warnings).toContainText('Long')
  await expect(warnings).toContainText('1 label without a code')
  await page.getByText('QR', { exact: true }).click()
  await expect(warnings).toBeEmpty()
  await page.getByText('Barcode tag', { exact: true }).click()
  await expect(warnings).toContainText('2 labels with the key instead of a barcode')
  await expect(warnings).toContainText('Löwe, Long')
  await expectAccessible(page)
})

test('Labels are shown as a preview and downloaded as PDF and SVG files', async ({ page }) => {
  const org = await Org.create()
  await org.asset('Crate one')
  await org.asset('仓库 crate')
  await org.signIn(page, org.email, '/labels')
  await expect(page.getByRole('img', { name: 'First page with labels of 2 assets' })).toBeVisible()
  const [pdf] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download PDF' }).click(),
  ])
  const stream = await pdf.createReadStream()
  const bytes = Buffer.concat(await stream.toArray())
  const document = await PDFDocument.load(bytes)
  expect(document.getPages().map((one) => [one.getWidth(), one.getHeight()].map(Math.round))).toEqual([[595, 842]])
  const contents = contentStreams(bytes)
  expect(contents).toContain(`<${Buffer.from('Crate one').toString('hex').toUpperCase()}> Tj`)
  expect(contents, 'the barcode is a path').toContain('\nf')
  expect(contents, 'text in another script is an image').toMatch(/\/Image-\d+ Do/)
  await page.getByText('Code 128', { exact: true }).click()
  const [svg] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download SVG' }).click(),
  ])
  expect(svg.suggestedFilename()).toBe('assets-labels-1.svg')
})

test('Reports show asset locations, time per location and moves between locations', async ({ page }) => {
  const { org } = await warehouse()
  await org.signIn(page, org.email, '/reports')
  await expect(page.getByRole('table', { name: 'Asset locations' }).getByRole('row')).toHaveCount(5)
  await page.getByRole('tab', { name: 'Time per location' }).click()
  await expect(page.getByRole('table', { name: 'Time per location' })).toContainText('Hall A')
  await page.getByRole('tab', { name: 'Flow' }).click()
  await expect(page.getByRole('group', { name: /Moves between locations/ })).toContainText('Dock 1')
  const table = page.getByRole('table', { name: 'Moves between locations' })
  await expect(table.getByRole('row', { name: 'Hall A Riverside Dock 1 Riverside 2' })).toHaveCount(1)
  await expect(table.getByRole('row', { name: 'Dock 1 Riverside Hall A Riverside 1' })).toHaveCount(1)
})

test('The report about a point in time is filtered by location and text, in the URL and in the CSV', async ({
  page,
}) => {
  const { org, site } = await warehouse()
  const at = new Date(Date.now() - 40 * 60_000).toISOString()
  await org.signIn(page, org.email, `/reports?at=${at}`)
  const rows = page.getByRole('table', { name: 'Asset locations' }).getByRole('row')
  await expect(rows).toHaveCount(5)
  await page.getByRole('combobox', { name: 'Location' }).fill('Riverside')
  await page.getByRole('option', { name: /Riverside/ }).click()
  await expect(page).toHaveURL(new RegExp(`location=${String(site.id)}`))
  await expect(rows).toHaveCount(5)
  await page.getByRole('switch', { name: 'Include locations below' }).uncheck()
  await expect(page).toHaveURL(/below=no/)
  await expect(page.getByText('No asset matches the filters at that time.')).toBeVisible()
  await page.getByRole('switch', { name: 'Include locations below' }).check()
  await page.getByLabel('Asset', { exact: true }).fill('crate 2')
  await expect(rows).toHaveCount(2)
  await expectAccessible(page)
  await page.reload()
  await expect(page.getByRole('combobox', { name: 'Location' })).toHaveValue(/Riverside/)
  await expect(page.getByLabel('Asset', { exact: true })).toHaveValue('crate 2')
  await expect(rows).toHaveCount(2)
  await expect(rows.nth(1)).toContainText('Dock 1')
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ])
  const csv = Buffer.concat(await (await file.createReadStream()).toArray()).toString('utf8')
  expect(
    csv
      .trim()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(',')[0]),
  ).toEqual(['CRATE-2'])
})

test('Reports roll locations up to a level of the tree, and filter, sort and export their figures', async ({
  page,
}) => {
  const { org, hall, reader, tag } = await warehouse()
  const bench = await org.location('Bench 1', { external_key: 'BENCH-1', parent_id: hall.id })
  const yard = await org.location('Yard', { external_key: 'YARD' })
  const gate = await org.reader('Bench and yard', [bench.id, yard.id])
  const observed_at = new Date(Date.now() - 600_000).toISOString()
  await org.read(
    gate.token,
    [1, 2].map((antenna) => ({ tag: tag(2 + antenna), antenna, observed_at })),
  )
  await org.read(reader.token, [{ tag: tag(5), antenna: 1, observed_at }])
  await org.signIn(page, org.email, '/reports?tab=flow')
  // The zones come first: moves within Riverside are not shown.
  const flows = page.getByRole('table', { name: 'Moves between locations' }).getByRole('row')
  await expect(flows).toHaveText([/From/, /^First seenRiverside5$/, /^RiversideYard1$/])
  const level = page.getByRole('combobox', { name: 'Group by' })
  await level.click()
  await page.getByRole('option', { name: 'Level 2 (2 locations)' }).click()
  await expect(flows).toHaveCount(5)
  await expect(page.getByRole('group', { name: /Moves between locations/ })).toContainText('Dock 1')
  await page.getByRole('textbox', { name: 'Location contains' }).fill('dock')
  await expect(flows).toHaveText([/From/, /^Hall ARiversideDock 1Riverside2$/, /^Dock 1RiversideHall ARiverside1$/])
  await page.getByRole('button', { name: 'Moves' }).click()
  await expect(flows.nth(1)).toHaveText(/^Dock 1RiversideHall ARiverside1$/)
  await page.reload()
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ])
  expect(readFileSync(await file.path(), 'utf8')).toBe(
    '\uFEFFfrom_key,from,from_path,to_key,to,to_path,moves\r\n' +
      'DOCK-1,Dock 1,Riverside,HALL-A,Hall A,Riverside,1\r\nHALL-A,Hall A,Riverside,DOCK-1,Dock 1,Riverside,2\r\n',
  )

  await page.goto(`${url()}/reports?tab=dwell`)
  const times = page.getByRole('table', { name: 'Time per location' }).getByRole('row')
  await expect(times).toHaveText([/Location/, /^Riverside/, /^Yard/])
  await level.click()
  await page.getByRole('option', { name: 'Every location' }).click()
  await expect(page.getByRole('row', { name: /^Bench 1\s*Riverside \/ Hall A/ })).toBeVisible()

  // The report about a point in time counts the assets of each group.
  await page.goto(`${url()}/reports`)
  await level.click()
  await page.getByRole('option', { name: 'Top level (2 locations)' }).click()
  const counts = page.getByRole('table', { name: 'Assets per location' }).getByRole('row')
  await expect(counts).toHaveText([/Location/, /^Riverside4100 %$/])
  await page.goto(`${url()}/reports?level=1&at=${new Date().toISOString()}`)
  await expect(counts.nth(1)).toHaveText(/^Hall ARiverside3/)
  await page.getByRole('button', { name: 'Location', exact: true }).click()
  await expect(counts).toHaveText([/Location/, /^Dock 1Riverside1/, /^Hall ARiverside3/, /^Yard1/])
  await page.getByRole('textbox', { name: 'Location contains' }).fill('river')
  // The shares are still those of all five assets.
  await expect(counts).toHaveText([/Location/, /^Dock 1Riverside120 %$/, /^Hall ARiverside360 %$/])
  await expect(page.getByText('4 of 5 assets in total')).toBeVisible()
  await expectAccessible(page)
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ])
  expect(readFileSync(await saved.path(), 'utf8')).toBe(
    '\uFEFFlocation_key,location,path,assets\r\nDOCK-1,Dock 1,Riverside,1\r\nHALL-A,Hall A,Riverside,3\r\n',
  )
  await level.click()
  await page.getByRole('option', { name: 'Every asset' }).click()
  await expect(page.getByRole('table', { name: 'Asset locations' }).getByRole('row')).toHaveCount(6)

  // A location picker shows the path of each location.
  await page.goto(`${url()}/assets`)
  await page.getByRole('combobox', { name: 'At or below this location' }).fill('bench')
  await expect(page.getByRole('option', { name: /^Bench 1 \(BENCH-1\)\s*Riverside \/ Hall A$/ })).toBeVisible()
})

test('Two locations of the same name differ in the flow report, and a filter without a match says so', async ({
  page,
}) => {
  const org = await Org.create()
  const halls = [await org.location('Hall A'), await org.location('Hall B')]
  const shelves = [
    await org.location('Shelf 1', { parent_id: halls[0]!.id }),
    await org.location('Shelf 1', { parent_id: halls[1]!.id }),
  ]
  await org.asset('Crate', { external_key: 'CRATE', tags: [{ tag_type: 'rfid', value: 'E20000000000000000000009' }] })
  const reader = await org.reader(
    'Gate',
    shelves.map((one) => one.id),
  )
  for (const [index, antenna] of [1, 2].entries())
    await org.read(reader.token, [
      {
        tag: 'E20000000000000000000009',
        antenna,
        observed_at: new Date(Date.now() - (3 - index) * 600_000).toISOString(),
      },
    ])
  await org.signIn(page, org.email, '/reports?tab=flow&level=all')
  const diagram = page.getByRole('group', { name: /Moves between locations/ })
  await expect(diagram).toContainText('Hall B / Shelf 1')
  await expect(diagram).toContainText('Hall A / Shelf 1')
  await expect(page.getByRole('row', { name: 'Shelf 1 Hall A Shelf 1 Hall B 1' })).toBeVisible()
  await page.getByRole('textbox', { name: 'Location contains' }).fill('nowhere')
  await expect(page.getByText('No location contains this text.')).toBeVisible()
  await expect(page.getByText('No moves in this period.')).toHaveCount(0)
  await page.getByRole('tab', { name: 'Time per location' }).click()
  await expect(page.getByText('No location contains this text.')).toBeVisible()
})

const flowRow = (id: number) => ({
  from_location_id: null,
  from_name: null,
  to_location_id: id,
  to_name: `Shelf ${id}`,
})
const locationRow = (id: number) => ({ location_id: id, external_key: `S-${id}`, name: `Shelf ${id}` })
for (const { report, search, row, text } of [
  { report: 'flow', search: 'tab=flow', row: flowRow, text: /have the 1,000 busiest flows of this period/ },
  { report: 'dwell', search: 'tab=dwell', row: locationRow, text: /have the 1,000 locations with the longest time/ },
  {
    report: 'assets-per-location',
    search: 'level=all',
    row: locationRow,
    text: /^1,000 assets at these locations. The table and the CSV have the 1,000 locations with the most/,
  },
])
  test(`The report ${report} with as many rows as the server returns at most says so`, async ({ page, context }) => {
    const org = await Org.create()
    await org.location('Hall')
    const data = Array.from({ length: 1000 }, (_, index) => ({
      ...row(index + 1),
      ...{ moves: 1, minutes: 1, assets: 1, visits: 1 },
    }))
    await context.route(`**/api/v1/reports/${report}**`, (route) => route.fulfill({ json: { data } }))
    await org.signIn(page, org.email, `/reports?${search}`)
    await expect(page.getByText(text)).toBeVisible()
  })

test('The report about a point in time is sorted by asset, location or last sighting', async ({ page }) => {
  const { org } = await warehouse()
  await org.signIn(page, org.email, `/reports?at=${new Date().toISOString()}`)
  const names = () => page.getByRole('table', { name: 'Asset locations' }).getByRole('link', { name: /^Crate/ })
  await expect(names()).toHaveText(['Crate 1', 'Crate 2', 'Crate 3', 'Crate 4'])
  await expect(page.getByRole('row', { name: /^Crate 2 CRATE-2 Dock 1 DOCK-1 / })).toBeVisible()
  await page.getByRole('button', { name: 'Asset', exact: true }).click()
  await expect(names()).toHaveText(['Crate 4', 'Crate 3', 'Crate 2', 'Crate 1'])
  await page.getByRole('button', { name: 'Last seen' }).click()
  await expect(page).toHaveURL(/sort=asset_last_seen/)
  await expect(names().last()).toHaveText('Crate 1')
  await page.getByRole('tab', { name: 'Time per location' }).click()
  await expect(page.getByRole('table', { name: 'Time per location' })).toBeVisible()
  await expect(page).not.toHaveURL(/sort=/)
})

test('The account page shows the quotas of the organization', async ({ page }) => {
  const { org } = await warehouse()
  await org.signIn(page, org.email, '/settings/account')
  const quotas = page.getByRole('table', { name: 'Quotas' })
  await expect(quotas.getByRole('row', { name: /^Members/ })).toContainText(/1 of 1.?000/)
  await expect(quotas.getByRole('row', { name: /^Assets/ })).toContainText(/^Assets[1-9]\d* of 2.?000.?000/)
  await expect(quotas.getByRole('row', { name: /^Stored data/ })).toContainText(/\d GB of 100 GB/)
  await expect(quotas.getByRole('row', { name: /^Open live streams/ })).toContainText(/\d of 100/)
  await expect(quotas.getByRole('row', { name: /^Searches and reports in this minute/ })).toContainText(/\d s of 600 s/)
})

test('The URL of a report holds its tab, time, period and asset', async ({ page }) => {
  const { org, assets } = await warehouse()
  await org.signIn(page, org.email, '/reports')
  const tab = (name: string) => page.getByRole('tab', { name, exact: true })
  await tab('Time per location').click()
  await page.getByText('30 days').click()
  await expect(page).toHaveURL(/tab=dwell/)
  await expect(page).toHaveURL(/days=30/)
  await page.reload()
  await expect(tab('Time per location')).toHaveAttribute('aria-selected', 'true')
  await expect(page.getByRole('radio', { name: '30 days' })).toBeChecked()

  await tab('History').click()
  await expect(page.getByRole('radio', { name: '30 days' })).toBeChecked()
  await page.getByRole('combobox', { name: 'Asset' }).fill('Crate 2')
  await page.getByRole('option', { name: /Crate 2/ }).click()
  await expect(page).toHaveURL(new RegExp(`asset=${String(assets[1]!.id)}`))
  await page.reload()
  await expect(page.getByRole('combobox', { name: 'Asset' })).toHaveValue(/Crate 2/)
  await page.goBack()
  await expect(tab('Time per location')).toHaveAttribute('aria-selected', 'true')

  const requests: string[] = []
  page.on('request', (request) => requests.push(decodeURIComponent(request.url())))
  await page.goto(`${url()}/reports?tab=flow&from=2026-05-04T08:00:00.000Z&to=2026-05-05T08:00:00.000Z`)
  await expect(page.getByRole('radio', { name: 'Custom' })).toBeChecked()
  await expect(page.getByText('No moves in this period.')).toBeVisible()
  await expectAccessible(page)
  const span = 'from=2026-05-04T08:00:00.000Z&to=2026-05-05T08:00:00.000Z'
  expect(requests.some((one) => one.includes(`/reports/flow?${span}`))).toBe(true)
  await page.goto(`${url()}/reports?at=2020-05-04T08:00:00.000Z`)
  await expect(page.getByText('No asset had been seen by that time.')).toBeVisible()
})

test.describe('In the locale en-US', () => {
  test.use({ locale: 'en-US' })

  test('date pickers and tables write dates and times alike', async ({ page }) => {
    const { org } = await warehouse()
    const asset = await org.asset('Ladder', { valid_from: '2026-05-04T06:15:30.000Z' })
    const usual = /^[A-Z][a-z]{2} \d{1,2}, \d{4}, \d{1,2}:\d{2}\s[AP]M$/
    await org.signIn(page, org.email, '/reports')
    await expect(page.getByRole('table', { name: 'Asset locations' }).getByRole('row').nth(1)).toContainText(/[AP]M/)
    await expect(page.getByLabel('Time', { exact: true })).toHaveText(usual)
    await page.goto(`${url()}/assets/${asset.id}`)
    await page.getByRole('button', { name: 'Edit' }).click()
    const validFrom = page.getByRole('dialog').getByLabel('Valid from')
    await expect(validFrom).toHaveText(/^May 4, 2026, 8:15:30\sAM$/)
    await validFrom.click()
    const calendar = page.locator('.mantine-Popover-dropdown').last()
    await expect(calendar.locator('th').first()).toHaveText(/^Su/)
    await expect(calendar.getByText('May 2026')).toBeVisible()
  })
})

test.describe('In the locale de-DE', () => {
  test.use({ locale: 'de-DE' })

  test('the calendar of a date picker has the names and the first weekday of the locale', async ({ page }) => {
    const org = await Org.create()
    const asset = await org.asset('Ladder', { valid_from: '2026-05-04T06:15:30.000Z' })
    await org.signIn(page, org.email, `/assets/${asset.id}`)
    await page.getByRole('button', { name: 'Edit' }).click()
    const validFrom = page.getByRole('dialog').getByLabel('Valid from')
    await expect(validFrom).toHaveText('04.05.2026, 08:15:30')
    await validFrom.click()
    const calendar = page.locator('.mantine-Popover-dropdown').last()
    await expect(calendar.locator('th').first()).toHaveText('Mo')
    await expect(calendar.getByText('Mai 2026')).toBeVisible()
  })
})
