import { expect, test } from './support/test.ts'
import { url, warehouse } from './support/org.ts'
import { settled } from './support/page-checks.ts'

test('The app uses the standard terms of the field', async ({ page }) => {
  const { org, hall } = await warehouse()
  await org.post('/invitations', { email: 'guest@example.com', role: 'viewer' })
  await org.signIn(page)
  const terms: [string, string[]][] = [
    ['/readers/inbox', ['Unassigned tags', 'Unregistered readers']],
    [`/locations/${String(hall.id)}`, ['Arrivals and departures', 'Arrived', 'Departed']],
    ['/locations?create=yes', ['Parent location', 'Cancel']],
    ['/reports?tab=dwell', ['Total time', 'Average visit']],
    ['/import', ['A CSV file with a header row']],
    ['/settings/account', ['Current password']],
    ['/settings/members', ['expires in 7 days']],
  ]
  for (const [path, texts] of terms) {
    await page.goto(url() + path)
    await settled(page)
    for (const text of texts) await expect(page.getByText(text).first(), path).toBeVisible()
  }
  await page.goto(`${url()}/locations?create=yes`)
  await page.getByRole('combobox', { name: 'Parent location' }).click()
  await expect(page.getByRole('option', { name: 'None (top level)' })).toBeVisible()
})
