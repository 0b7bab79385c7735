import type { Locator, Page } from '@playwright/test'
import { Org } from './support/org.ts'
import { expect, test } from './support/test.ts'

const choose = (page: Page, text: string): Promise<void> =>
  page
    .locator('input[type=file]')
    .setInputFiles({ name: 'assets.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })

const card = (page: Page): Locator => page.locator('section', { has: page.getByRole('heading', { name: 'Import' }) })

test('A CSV file is previewed, checked line by line and imported; lines with existing keys update records', async ({
  page,
}) => {
  const org = await Org.create()
  await org.asset('Old name', { external_key: 'C-1' })
  await org.signIn(page, org.email, '/import')
  await choose(
    page,
    '\uFEFFExternal Key;name;is_active;metadata;rfid;metadata.Shelf\r\nC-1;"Crate; one";yes;"{""a"":1}";;\r\nC-2;Crate 2;no;;E2AA;x\r\n',
  )
  await expect(card(page)).toContainText('2 lines')
  await page.getByRole('button', { name: 'Check 2 lines' }).click()
  await expect(card(page)).toContainText('Checked. No data was changed yet.')
  expect(((await org.get('/assets')) as object[]).length).toBe(1)
  await page.getByRole('button', { name: 'Import 2 lines' }).click()
  await expect(card(page).getByRole('status')).toHaveText('Done.')
  const assets = (await org.get('/assets?sort=external_key')) as object[]
  expect(assets).toMatchObject([
    { external_key: 'C-1', name: 'Crate; one', is_active: true, metadata: { a: 1 } },
    {
      external_key: 'C-2',
      name: 'Crate 2',
      is_active: false,
      metadata: { Shelf: 'x' },
      tags: [{ tag_type: 'rfid', value: 'E2AA' }],
    },
  ])
})

test('While a file is read, sent, checked or imported, the page says so and offers no other action', async ({
  page,
}) => {
  const org = await Org.create()
  await org.signIn(page, org.email, '/import')
  // The file is read when the test continues.
  await page.evaluate(() => {
    const read = Blob.prototype.arrayBuffer
    Blob.prototype.arrayBuffer = async function () {
      await new Promise((resolve) => addEventListener('read', resolve))
      return read.call(this)
    }
  })
  await choose(page, 'external_key,name\nA,Crate\n')
  await expect(card(page).getByRole('status')).toHaveText('Reading the file …')
  await expect(page.getByRole('button', { name: 'Choose a CSV file' })).toBeDisabled()
  await page.evaluate(() => dispatchEvent(new Event('read')))

  await page.route(/\/imports\/\d+\/rows$/, () => undefined)
  await page.getByRole('button', { name: 'Check 1 line' }).click()
  await expect(page.getByRole('progressbar', { name: 'Lines sent' })).toBeAttached()
  await expect(page.getByRole('button', { name: 'Check 1 line' })).toBeDisabled()
  await expect(page.getByRole('button', { name: 'Choose another file' })).toBeDisabled()

  const counts = { rows: 2, done_rows: 1, creates: 2, updates: 0, unchanged: 0, errors_total: 0, errors: [] }
  for (const [state, text] of [
    ['waiting', 'Waiting for another import of the organization …'],
    ['checking', 'Checking every line …'],
    ['running', 'Importing …'],
  ] as const) {
    await page.route(/\/imports\/\d+$/, (route) =>
      route.fulfill({ json: { data: { id: 1, kind: 'assets', state, ...counts } } }),
    )
    await page.goto(new URL('/import?import=1', page.url()).href)
    await expect(card(page).getByRole('status')).toHaveText(text)
    await expect(page.getByRole('progressbar', { name: 'Progress' })).toBeVisible()
    await expect(card(page).getByRole('button', { name: /Import|Cancel|Choose/ })).toHaveCount(0)
  }
})

test('A file with an unknown column is rejected with the line number', async ({ page }) => {
  const org = await Org.create()
  await org.signIn(page, org.email, '/import')
  await choose(page, 'external_key,name,shelf\nA,Crate,x\n')
  const alert = card(page).getByRole('alert', { name: 'The columns do not match' })
  await expect(alert).toContainText("line 1: assets have no column 'shelf'")
})

test('A line with too many cells, or with an inexact number in metadata, is an error of the check and can be left out [D47]', async ({
  page,
}) => {
  const org = await Org.create()
  await org.signIn(page, org.email, '/import')
  const inexact = 'B,Crate,"{""n"":9007199254740993}"'
  await choose(page, `external_key,name,metadata\nA,Crate,\n${inexact}\nC,Crate,,more\nD,Crate,\n`)
  await expect(page.getByRole('region', { name: 'Preview of the file' })).toContainText('4 cells under 3 columns')
  await page.getByRole('button', { name: 'Check 4 lines' }).click()
  const errors = page.getByRole('table', { name: 'Errors' })
  await expect(errors.getByRole('row').nth(1)).toContainText('contains a number that cannot be stored exactly')
  await expect(errors.getByRole('row').nth(2)).toContainText('there are 4 cells under 3 columns')
  await page.getByRole('button', { name: /^Import the \d lines? without errors/ }).click()
  await expect(card(page).getByRole('status')).toHaveText('Done.')
})

test('A file with an invalid line changes no data unless the user imports the valid lines', async ({ page }) => {
  const org = await Org.create()
  await org.signIn(page, org.email, '/import')
  await page.getByRole('radiogroup', { name: 'Record type' }).getByText('Locations').click()
  await choose(page, 'external_key,name,parent_external_key\nA,Hall A,\nB,Shelf,NOWHERE\nC,Shelf C,A\n')
  await page.getByRole('button', { name: 'Check 3 lines' }).click()
  const errors = page.getByRole('table', { name: 'Errors' })
  await expect(errors.getByRole('row')).toHaveCount(2)
  await expect(errors.getByRole('row').nth(1)).toContainText('3')
  expect(await org.get('/locations')).toEqual([])
  await page.getByRole('button', { name: 'Import the 2 lines without errors' }).click()
  await expect(card(page).getByRole('status')).toHaveText('Done.')
  expect(((await org.get('/locations')) as { external_key: string }[]).map((one) => one.external_key)).toEqual([
    'A',
    'C',
  ])
})

const saveFile = async (page: Page, button: string): Promise<string> => {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: button }).click()])
  expect(file.suggestedFilename()).toBe('assets.csv')
  const stream = await file.createReadStream()
  return Buffer.concat(await stream.toArray()).toString('utf8')
}

test('An exported file can be imported again without changes', async ({ page }) => {
  const org = await Org.create()
  await org.asset('Crate "one", =1', {
    external_key: '=C-1',
    description: 'two\nlines',
    metadata: { deep: { a: [1, 2] } },
    tags: [
      { tag_type: 'rfid', value: 'E2AA' },
      { tag_type: 'barcode', value: 'a|b:c' },
    ],
  })
  await org.signIn(page, org.email, '/import')
  await choose(page, await saveFile(page, 'CSV of Assets'))
  await page.getByRole('button', { name: 'Check 1 line' }).click()
  await expect(card(page)).toContainText('Checked.')
  await expect(card(page)).toContainText(/Unchanged\s*1/)
})

test('An export keeps every text exactly when imported into another organization, including apostrophes and formulas', async ({
  page,
}) => {
  const [from, to] = [await Org.create(), await Org.create()]
  const texts = [
    '=1+1',
    '+1',
    '-1',
    '@a',
    "'",
    "''",
    "'=1",
    "'quoted'",
    "O'Neil",
    "'tis",
    '"\'"',
    ' a, b; c ',
    "'\tb",
    '\tb',
  ]
  for (const [index, text] of texts.entries())
    await from.asset(text.replaceAll('\t', ''), { external_key: `K${index}`, description: text })
  await from.asset('Empty', { external_key: "'K", description: '', tags: [{ tag_type: 'barcode', value: "'=B" }] })
  await from.signIn(page, from.email, '/import')
  const file = await saveFile(page, 'CSV of Assets')
  await to.signIn(page, to.email, '/import')
  await choose(page, file)
  await page.getByRole('button', { name: `Check ${texts.length + 1} lines` }).click()
  await page.getByRole('button', { name: `Import ${texts.length + 1} lines` }).click()
  await expect(card(page).getByRole('status')).toHaveText('Done.')
  const all = async (org: Org): Promise<object[]> =>
    ((await org.get('/assets?limit=200&sort=external_key')) as Record<string, unknown>[]).map(
      ({ external_key, name, description, tags }) => ({
        external_key,
        name,
        description,
        tags: (tags as { tag_type: string; value: string }[]).map((one) => [one.tag_type, one.value]),
      }),
    )
  expect(await all(to)).toEqual(await all(from))
})
