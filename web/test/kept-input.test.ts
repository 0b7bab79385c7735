import type { Page } from '@playwright/test'
import { goToPage } from './support/navigation.ts'
import { Org, warehouse } from './support/org.ts'
import { expect, test } from './support/test.ts'

test('A refetch that fails keeps the page of an asset and the input of its open dialog', async ({ page }) => {
  const { org, assets, reader, tag } = await warehouse()
  await org.signIn(page, org.email, `/assets/${assets[0]!.id}`)
  await expect(page.locator('[data-live=live]')).toBeVisible()
  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Crate one')
  const path = `/api/v1/assets/${assets[0]!.id}`
  await page.route(`**${path}`, (route) =>
    route.request().method() === 'GET' ? route.fulfill({ status: 400, json: {} }) : route.fallback(),
  )
  const failed = page.waitForResponse((response) => response.url().endsWith(path) && response.status() === 400)
  await org.read(reader.token, [{ tag: tag(1), antenna: 2 }])
  await failed
  await expect(page.getByRole('button', { name: 'Account menu' })).toBeAttached()
  await expect(dialog.getByLabel('Name')).toHaveValue('Crate one')
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Crate one' })).toBeVisible()
})

/** Closes the window. Returns the type of the question that the browser asks, and keeps the window open. */
async function close(page: Page): Promise<string> {
  const asked = page.waitForEvent('dialog')
  const closing = page.close({ runBeforeUnload: true })
  const question = await asked
  await question.dismiss()
  await closing
  return question.type()
}

test('The browser asks before a window with unsaved scans is closed, and each organization keeps its own scans', async ({
  page,
}) => {
  const [{ org, hall }, other] = [await warehouse(), await Org.create()]
  const codes = page.getByRole('textbox', { name: 'Code' })
  const counts = async (): Promise<string[]> => page.locator('[data-count]').allInnerTexts()
  await org.signIn(page, org.email, `/scan?location=${hall.id}`)
  await codes.fill('CRATE-1')
  await codes.press('Enter')
  await expect.poll(counts).toEqual(['1', '0', '2', '0'])
  expect(await close(page)).toBe('beforeunload')
  await other.signIn(page, other.email, '/scan')
  await expect.poll(counts).toEqual(['0', '0', '0', '0'])
  await codes.fill('NO-SUCH')
  await codes.press('Enter')
  await expect.poll(counts).toEqual(['0', '0', '0', '1'])
  await org.signIn(page, org.email, '/scan')
  await expect.poll(counts).toEqual(['1', '0', '2', '0'])
})

test('The text of a filter follows the URL when a link changes it', async ({ page }) => {
  const { org } = await warehouse()
  await org.signIn(page, org.email, `/reports?at=${new Date().toISOString()}`)
  const rows = page.getByRole('table', { name: 'Asset locations' }).getByRole('row')
  await page.getByLabel('Asset', { exact: true }).fill('crate 2')
  await expect(rows).toHaveCount(2)
  await goToPage(page, 'Reports')
  await expect(page).toHaveURL(/\/reports$/)
  await expect(page.getByLabel('Asset', { exact: true })).toHaveValue('')
  await expect(rows).toHaveCount(5)

  await goToPage(page, 'Labels')
  await page.getByLabel('Filter').fill('crate 2')
  await expect(page.getByRole('img', { name: 'First page with labels of 1 asset' })).toBeVisible()
  await goToPage(page, 'Labels')
  await expect(page).toHaveURL(/\/labels$/)
  await expect(page.getByLabel('Filter')).toHaveValue('')
  await expect(page.getByRole('img', { name: 'First page with labels of 6 assets' })).toBeVisible()
})

test('A search field loses no character that is typed fast, and the URL follows', async ({ page }) => {
  const { org } = await warehouse()
  const text = 'hall a, as a hand scanner types it'
  for (const [path, label] of [
    ['/locations', 'Search locations'],
    ['/assets', 'Search assets'],
  ] as const) {
    await org.signIn(page, org.email, path)
    await page.getByLabel(label).focus()
    // A hand scanner does not wait for the page between two characters.
    await Promise.all(Array.from(text, (character) => page.keyboard.insertText(character)))
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe(text)
    await expect(page.getByLabel(label)).toHaveValue(text)
  }
})

test('Enter sets the location, and Escape asks before it discards a chosen location', async ({ page }) => {
  const { org, assets } = await warehouse()
  await org.signIn(page, org.email, `/assets/${assets[5]!.id}`)
  await page.getByRole('button', { name: 'Set location' }).click()
  const dialog = page.getByRole('dialog', { name: 'Set the location of Crate 6' })
  await dialog.getByRole('combobox', { name: 'Location' }).fill('Dock')
  await page.getByRole('option', { name: /Dock 1/ }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Keep editing' }).click()
  await dialog.getByLabel('Note').press('Enter')
  await expect(page.getByText('Crate 6 is at Dock 1 now.')).toBeVisible()
})

test('A checked import is still there after the page was left or reloaded, and is run once', async ({ page }) => {
  const org = await Org.create()
  await org.signIn(page, org.email, '/import')
  const status = page.getByRole('main').getByRole('status')
  const buffer = Buffer.from('external_key,name\nA-1,Ladder\n')
  await page.locator('input[type=file]').setInputFiles({ name: 'assets.csv', mimeType: 'text/csv', buffer })
  await page.getByRole('button', { name: 'Check 1 line' }).click()
  await expect(status).toHaveText('Checked. No data was changed yet.')
  await expect(page).toHaveURL(/\/import\?import=\d+$/)
  await goToPage(page, 'Assets')
  await expect(page.getByText('No assets yet')).toBeVisible()
  await page.goBack()
  await expect(status).toHaveText('Checked. No data was changed yet.')
  await page.reload()
  let runs = 0
  page.on('request', (request) => (runs += request.url().endsWith('/run') ? 1 : 0))
  await page.getByRole('button', { name: 'Import 1 line' }).dblclick()
  await expect(status).toHaveText('Done.')
  expect(runs).toBe(1)
  await page.getByRole('button', { name: 'Import another file' }).click()
  await expect(page.getByRole('button', { name: 'Choose a CSV file' })).toBeVisible()
  await expect(page).toHaveURL(/\/import$/)
})
