import { goToPage } from './support/navigation.ts'
import { password, url } from './support/org.ts'
import { expect, test } from './support/test.ts'

test('A new user signs up, imports a file, prints labels, scans on a phone and finds the asset in five minutes', async ({
  page,
}) => {
  const started = Date.now()
  await page.goto(`${url()}/sign-up`)
  await page.getByLabel('Organization').fill('Toolshed')
  await page.getByLabel('E-mail').fill(`first-${Date.now()}@example.com`)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Create organization' }).click()

  await goToPage(page, 'Import & export')
  const file = 'Article no;Item;barcode;Colour\r\nA-1;Ladder;4006381333931;red\r\nA-2;Drill;4006381333948;blue\r\n'
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'tools.csv', mimeType: 'text/csv', buffer: Buffer.from(file) })
  const importCard = page.locator('section', { has: page.getByRole('heading', { name: 'Import' }) })
  await expect(importCard.getByRole('alert')).toContainText("assets have no column 'article_no', 'item', 'colour'")
  for (const [header, column] of [
    ['Article no', 'external_key'],
    ['Item', 'name'],
  ] as const) {
    await importCard.getByRole('combobox', { name: `Import ${header} as` }).click()
    await page.getByRole('option', { name: column, exact: true }).click()
  }
  await importCard.getByRole('button', { name: 'Use these columns' }).click()
  await expect(importCard.getByRole('region', { name: 'Preview of the file' })).toContainText('Ladder')
  await importCard.getByRole('button', { name: 'Check 2 lines' }).click()
  await importCard.getByRole('button', { name: 'Import 2 lines' }).click()
  await expect(importCard.getByRole('status')).toHaveText('Done.')

  await goToPage(page, 'Labels')
  await expect(page.getByRole('img', { name: 'First page with labels of 2 assets' })).toBeVisible()
  const [labels] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download PDF' }).click(),
  ])
  expect(labels.suggestedFilename()).toMatch(/\.pdf$/)

  await goToPage(page, 'Locations')
  await page.getByRole('button', { name: 'Create location' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Workshop')
  await page.getByRole('dialog').getByRole('button', { name: 'Create location' }).click()
  await page.getByRole('link', { name: 'Workshop' }).first().click()

  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('link', { name: 'Scan here' }).click()
  await page.getByRole('textbox', { name: 'Code' }).fill('4006381333931')
  await page.getByRole('textbox', { name: 'Code' }).press('Enter')
  await page.getByRole('button', { name: 'Save 1 at Workshop' }).click()
  await expect(page.getByText('1 asset saved at Workshop.')).toBeVisible()

  await page.setViewportSize({ width: 1280, height: 800 })
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('textbox').fill('ladder')
  await expect(page.getByRole('dialog').locator('[data-selected]')).toContainText('Workshop')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1, name: 'Ladder' })).toBeVisible()
  await expect(page.getByText('Colour')).toBeVisible()
  expect(Date.now() - started).toBeLessThan(300_000)
})
