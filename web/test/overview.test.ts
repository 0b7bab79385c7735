import { goToPage } from './support/navigation.ts'
import { warehouse } from './support/org.ts'
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
