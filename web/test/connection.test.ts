import { Org } from './support/org.ts'
import { goToPage } from './support/navigation.ts'
import { expect, test } from './support/test.ts'
import { expectAccessible } from './support/page-checks.ts'

test('While the server cannot be reached, the app stays and says so, and afterwards it continues by itself', async ({
  page,
  context,
}) => {
  const org = await Org.create()
  await org.asset('Ladder')
  await org.signIn(page)
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()
  const banner = page.getByRole('status').filter({ hasText: 'The server cannot be reached' })
  await expect(banner).toHaveCount(0)
  // This loads a page of the app for the first time, so its code has to be fetched.
  await context.setOffline(true)
  await goToPage(page, 'Assets')
  await expect(banner).toBeVisible()
  await expect(page.getByRole('button', { name: 'Account menu' })).toBeVisible()
  await expectAccessible(page)
  await context.setOffline(false)
  await expect(page.getByRole('table', { name: 'Assets' })).toContainText('Ladder')
  await expect(banner).toHaveCount(0)

  // The code of this page is loaded by now; its data are not.
  await goToPage(page, 'Locations')
  await expect(page.getByText('No locations yet')).toBeVisible()
  await context.setOffline(true)
  await goToPage(page, 'Assets')
  await page.getByLabel('Search assets').fill('lad')
  await expect(banner).toBeVisible()
  await context.setOffline(false)
  await expect(page).toHaveURL(/q=lad/)
  await expect(page.getByRole('table', { name: 'Assets' })).toContainText('Ladder')
  await expect(banner).toHaveCount(0)
  await expect(page.getByRole('alert')).toHaveCount(0)
})
