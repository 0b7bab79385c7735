import { Org, url, warehouse } from './support/org.ts'
import { goToPage } from './support/navigation.ts'
import { allowErrors, expect, test } from './support/test.ts'
import { expectAccessible } from './support/page-checks.ts'

test('While the server cannot be reached, the app stays and says so, and afterwards it continues by itself', async ({
  page,
  context,
}) => {
  allowErrors(/net::ERR_INTERNET_DISCONNECTED/)
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

test(
  'The message about the connection covers no control, and disappears without moving the page',
  { tag: '@phone' },
  async ({ page, context }) => {
    allowErrors(/net::ERR_INTERNET_DISCONNECTED/)
    const { org, hall } = await warehouse()
    await org.signIn(page, org.email, `/scan?location=${hall.id}`)
    await page.getByRole('textbox', { name: 'Code' }).fill('CRATE-1')
    await page.getByRole('textbox', { name: 'Code' }).press('Enter')
    await expect(page.getByRole('button', { name: 'Save 1 at Hall A' })).toBeVisible()
    await context.setOffline(true)
    await page.getByRole('textbox', { name: 'Code' }).fill('CRATE-2')
    await page.getByRole('textbox', { name: 'Code' }).press('Enter')
    await expect(page.getByText('The server cannot be reached', { exact: true })).toBeVisible()
    /** The controls that are under something else after the page was scrolled to them. */
    const covered = await page.evaluate(() =>
      [...document.querySelectorAll('main button:not([disabled]), .bottom-bar a, .app-nav a, header button')]
        .filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.clientWidth > 0)
        .filter((one) => {
          one.scrollIntoView({ block: 'center' })
          const { left, top, width, height } = one.getBoundingClientRect()
          const hit = document.elementFromPoint(left + width / 2, top + height / 2)
          return (
            hit?.closest('.connection-banner') != null || hit?.closest('[role=status]:has(.mantine-Alert-root)') != null
          )
        })
        .map((one) => one.textContent),
    )
    expect(covered).toEqual([])
    await context.setOffline(false)
    await expect(page.getByText('The server cannot be reached', { exact: true })).toHaveCount(0)
  },
)

test('When a deployment has removed a file of the page, the page is reloaded, and only once', async ({ page }) => {
  allowErrors(/status of 404.*\/static\//, /A new version of Lastseen was installed/)
  const org = await Org.create()
  await org.signIn(page)
  let documents = 0
  page.on('request', (request) => (documents += request.resourceType() === 'document' ? 1 : 0))
  await page.route('**/static/command-palette-*', (route) => route.fulfill({ status: 404 }), { times: 1 })
  await page.keyboard.press('Control+k')
  await expect.poll(() => documents).toBe(1)
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()
  await page.keyboard.press('Control+k')
  await expect(page.getByPlaceholder('Search by name, key or tag')).toBeVisible()
  await page.keyboard.press('Escape')

  // This file stays missing.
  await page.route('**/static/reports-page-*', (route) => route.fulfill({ status: 404 }))
  await page.goto(`${url()}/reports`)
  await expect(page.getByRole('heading', { name: 'This page could not be shown' })).toBeVisible()
  await expect(page.getByRole('alert')).toContainText('A new version of Lastseen was installed')
  expect(documents).toBe(3)
})

test('When a deployment has removed the code that writes PDF files, a message says to reload the page', async ({
  page,
}) => {
  allowErrors(/status of 404.*\/static\/pdf-/)
  const org = await Org.create()
  await org.asset('Ladder')
  await org.signIn(page, org.email, '/labels')
  await page.route('**/static/pdf-*', (route) => route.fulfill({ status: 404 }))
  await page.getByRole('button', { name: 'Download PDF' }).click()
  await expect(page.getByRole('alert')).toContainText('A new version of Lastseen was installed')
})

test('A live stream that is silent for 40 seconds is opened again, and the page then shows what it missed', async ({
  page,
}) => {
  const { org, reader, tag } = await warehouse()
  const opened: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/api/v1/live')) opened.push(request.url())
  })
  await page.clock.install()
  await org.signIn(page)
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  await expect(page.getByRole('log', { name: 'Moves' })).toContainText('Crate 1')
  const before = opened.length
  // In the time of the page, no message arrives during these seconds.
  await page.clock.fastForward(41_000)
  await expect.poll(() => opened.length).toBeGreaterThan(before)
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  await org.read(reader.token, [{ tag: tag(6), antenna: 2 }])
  await expect(page.getByRole('log', { name: 'Moves' }).locator('.move-row').first()).toContainText('Crate 6')
})
