import { openSearch } from './support/navigation.ts'
import { Org, warehouse } from './support/org.ts'
import { expect, test } from './support/test.ts'

test('A picker whose search fails says so, and searches again when it is opened again', async ({ page }) => {
  const { org } = await warehouse()
  await page.route(/\/api\/v1\/locations\?/, (route) => route.fulfill({ status: 400, json: {} }))
  await org.signIn(page, org.email, '/assets')
  const picker = page.getByRole('combobox', { name: 'At or below this location' })
  const failure = page.getByText('The search failed. Change the text or open the list again.')
  await picker.click()
  await expect(failure).toBeVisible()
  await page.keyboard.press('Escape')
  await page.unroute(/\/api\/v1\/locations\?/)
  await picker.click()
  await expect(page.getByRole('option', { name: /Hall A/ })).toBeVisible()
  await expect(failure).toHaveCount(0)
})

test('Lists that cannot be loaded say so and can be loaded again', async ({ page, context }) => {
  const { org, site } = await warehouse()
  const fail = (path: RegExp) => context.route(path, (route) => route.fulfill({ status: 400, json: {} }))
  await Promise.all([/\/quotas$/, /\/views(\?|$)/, /\/v1\/assets\?/, /\/unseen-assets/, /\/overview$/].map(fail))
  await org.signIn(page, org.email, '/settings/account')
  const tryAgain = page.getByRole('button', { name: 'Try again' })
  await expect(tryAgain).toBeVisible()
  await page.goto(new URL('/unseen', page.url()).href)
  await expect(tryAgain).toBeVisible()
  await page.goto(new URL(`/locations/${site.id}`, page.url()).href)
  await expect(tryAgain).toBeVisible()
  await expect(page.getByText('No locations below')).toHaveCount(0)
  await page.goto(new URL('/assets', page.url()).href)
  await page.getByRole('button', { name: 'Views' }).click()
  await expect(page.getByText('The saved views could not be loaded')).toBeVisible()
  await expect(page.getByText('No saved views yet')).toHaveCount(0)
  await context.unrouteAll()
  await page.getByRole('menuitem', { name: 'Try again' }).click()
  await expect(page.getByText('No saved views yet')).toBeVisible()
  await page.keyboard.press('Escape')
  await tryAgain.click()
  await expect(page.getByRole('table', { name: 'Assets' })).toContainText('Crate 1')
})

test('Assets are activated together; when one fails, the message says how many were changed', async ({ page }) => {
  const { org, assets } = await warehouse()
  for (const one of assets) await org.patch(`/assets/${one.id}`, { is_active: false })
  await org.signIn(page, org.email, '/assets')
  const activate = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Actions' }).click()
    await page.getByRole('menuitem', { name: 'Activate', exact: true }).click()
  }
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check()
  await page.route(`**/api/v1/assets/${assets[2]!.id}`, (route) => route.fulfill({ status: 400, json: {} }))
  await activate()
  await expect(page.getByText('2 of 6 assets activated.')).toBeVisible()
  await expect(page.getByText('The server rejected this')).toBeVisible()
  await page.unrouteAll()
  await activate()
  await expect(page.getByText(/^[46] of 6 assets activated\.$/)).toBeVisible()
  const saved = (await org.get('/assets')) as { is_active: boolean }[]
  expect(saved.map((one) => one.is_active)).toEqual(Array.from({ length: 6 }, () => true))
})

test('A page of readers that will all be deleted says so, and the deletion of a reader can be undone', async ({
  page,
}) => {
  const org = await Org.create()
  await Promise.all(Array.from({ length: 26 }, (_, index) => org.reader(`Gate ${100 + index}`, [])))
  await org.signIn(page, org.email, '/readers?page=2')
  const table = page.getByRole('table', { name: 'Readers' })
  const name = await table.getByRole('link').first().innerText()
  await table.getByRole('link').first().click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete reader' }).click()
  await page.getByRole('button', { name: '2', exact: true }).click()
  await expect(page.getByText('All readers of this page will be deleted')).toBeVisible()
  await expect(page.getByText('No readers yet')).toHaveCount(0)
  await expect(page.getByText('The other pages have 25 more.')).toBeVisible()
  await expect(page.getByText('25 readers', { exact: true })).toBeVisible()
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(table).toContainText(name)
  expect(await org.get('/readers?limit=50')).toHaveLength(26)
})

test('An error of a field in the form of a reader is shown once, at the field', async ({ page }) => {
  const org = await Org.create()
  await org.signIn(page, org.email, '/readers?create=yes')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('x'.repeat(300))
  await dialog.getByRole('button', { name: 'Create reader' }).click()
  await expect(dialog.getByLabel('Name')).toHaveAccessibleDescription(/255/)
  await expect(dialog.getByRole('alert')).toHaveCount(0)
})

test('While the request of an action is in flight, the action cannot be started again', async ({ page }) => {
  const { org, assets, tag } = await warehouse()
  await org.post('/invitations', { email: 'guest@example.com', role: 'viewer' })
  // These requests get no response.
  await page.route(/\/(tags|invitations)\/\d+$|\/auth\/logout$/, () => undefined)
  await org.signIn(page, org.email, `/assets/${assets[0]!.id}`)
  const detach = page.getByRole('button', { name: `Detach ${tag(1)}` })
  await detach.click()
  await expect(detach).toBeDisabled()
  await page.goto(new URL('/settings/members', page.url()).href)
  const withdraw = page.getByRole('button', { name: 'Withdraw the invitation of guest@example.com' })
  await withdraw.click()
  await expect(withdraw).toBeDisabled()
  await page.getByRole('button', { name: 'Account menu' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect(page.getByRole('menuitem', { name: 'Signing out …' })).toBeDisabled()
  // Signing out does not wait for a server that does not respond.
  await expect(page).toHaveURL(/\/sign-in/)
})

test('Searches and saved views that get no response say that they are loading', async ({ page }) => {
  const { org } = await warehouse()
  await page.route(/\/api\/v1\/(search|locations|views)(\?|$)/, () => undefined)
  await org.signIn(page, org.email, '/assets')
  await page.evaluate(() =>
    new MutationObserver(() => {
      const [found] = /No results|No saved views/.exec(document.body.textContent) ?? []
      if (found !== undefined) document.documentElement.dataset['claim'] = found
    }).observe(document.body, { subtree: true, childList: true, characterData: true }),
  )
  const searching = page.getByText('Searching …').filter({ visible: true })
  await (await openSearch(page)).fill('hall')
  await expect(searching).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(searching).toHaveCount(0)
  await page.getByRole('combobox', { name: 'At or below this location' }).click()
  await expect(searching).toBeVisible()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Views' }).click()
  await expect(page.getByText('Loading …')).toBeVisible()
  await expect(page.locator('html')).not.toHaveAttribute('data-claim')
})

test('A file that is being generated or made cannot be requested again', async ({ page }) => {
  const { org } = await warehouse()
  await page.route(/\/(export|static\/pdf)|\.csv/, () => undefined)
  await org.signIn(page, org.email, '/import')
  for (const [path, name] of [
    ['/import', 'CSV of Assets'],
    ['/reports?tab=history', 'Export CSV'],
    ['/labels', 'Download PDF'],
  ] as const) {
    await page.goto(new URL(path, page.url()).href)
    await page.getByRole('button', { name }).click()
    await expect(page.getByRole('button', { name })).toBeDisabled()
  }
})
