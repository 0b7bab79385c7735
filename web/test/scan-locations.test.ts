import type { Page } from '@playwright/test'
import { url, warehouse } from './support/org.ts'
import { allowErrors, expect, test } from './support/test.ts'

const counts = (page: Page): Promise<string[]> => page.locator('[data-count]').allInnerTexts()

async function enter(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Code' }).fill(text)
  await page.getByRole('textbox', { name: 'Code' }).press('Enter')
}

async function pick(page: Page, location: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Location' }).fill(location)
  await page.getByRole('option', { name: location }).click()
}

test('After a location was chosen, a hand scanner adds codes without a click', async ({ page }) => {
  const { org, hall, tag } = await warehouse()
  await org.signIn(page, org.email, '/scan')
  await pick(page, 'Hall A')
  await expect(page).toHaveURL(new RegExp(`location=${hall.id}`))
  await expect.poll(() => counts(page)).toEqual(['0', '0', '3', '0'])
  await page.keyboard.type(tag(1))
  await page.keyboard.press('Enter')
  await expect.poll(() => counts(page)).toEqual(['1', '0', '2', '0'])
  await expect(page.getByRole('combobox', { name: 'Location' })).toHaveValue('Hall A (HALL-A)')
})

test('Without a location, no scanned asset counts as found', async ({ page }) => {
  const { org } = await warehouse()
  await org.signIn(page, org.email, '/scan')
  await enter(page, 'CRATE-6')
  await expect(page.getByRole('status', { name: 'Last scan' })).toHaveText('Crate 6Never seen')
  await expect(page.locator('.last-scan')).toHaveAttribute('data-outcome', 'elsewhere')
  expect(await counts(page)).toEqual(['0', '1', '0', '0'])
})

test('A code that no tag can have is unknown, and the codes scanned with it are resolved', async ({ page }) => {
  const { org, hall } = await warehouse()
  await org.signIn(page, org.email, `/scan?location=${hall.id}`)
  await enter(page, `CRATE-1, ${'9'.repeat(300)}, \u001D0104006381333931, CRATE-2`)
  await expect.poll(() => counts(page)).toEqual(['1', '1', '2', '2'])
  await page.getByRole('tab', { name: /Unknown/ }).click()
  const panel = page.getByRole('tabpanel')
  await expect(panel.getByText('Not a key or tag')).toHaveCount(2)
  await expect(panel.getByRole('button', { name: /^Attach/ })).toHaveCount(0)
  await panel.getByRole('button', { name: /Remove 999/ }).click()
  await expect.poll(() => counts(page)).toEqual(['1', '1', '2', '1'])
})

test('A scan sends only its own code to the server', async ({ page }) => {
  const { org, hall } = await warehouse()
  await org.signIn(page, org.email, `/scan?location=${hall.id}`)
  const sent: string[][] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/codes/resolve')) sent.push((request.postDataJSON() as { codes: string[] }).codes)
  })
  await enter(page, 'CRATE-1, CRATE-2')
  await expect.poll(() => counts(page)).toEqual(['1', '1', '2', '0'])
  await enter(page, 'CRATE-3')
  await expect.poll(() => counts(page)).toEqual(['2', '1', '1', '0'])
  expect(sent).toEqual([['CRATE-2', 'CRATE-1'], ['CRATE-3']])
})

test('The last scan says that a code is waiting, and which location was scanned', async ({ page }) => {
  allowErrors(/net::ERR_FAILED.*codes\/resolve/)
  const { org } = await warehouse()
  await org.signIn(page, org.email, '/scan')
  const last = page.getByRole('status', { name: 'Last scan' })
  await enter(page, 'HALL-A')
  await expect(last).toHaveText('Hall ALocation')
  await expect(page).toHaveURL(/location=/)
  await page.route('**/api/v1/codes/resolve', (route) => route.abort())
  await enter(page, 'CRATE-3')
  await expect(last).toHaveText('CRATE-3Waiting for the server')
  await enter(page, 'CRATE-1')
  const waiting = page.getByRole('status', { name: 'Waiting codes' })
  await expect(waiting).toContainText('2 waiting')
  await waiting.getByRole('button', { name: 'Remove CRATE-3 from the list' }).click()
  await expect(waiting).toContainText('1 waiting')
  await page.unroute('**/api/v1/codes/resolve')
  await expect.poll(() => counts(page)).toEqual(['1', '0', '2', '0'])
  await expect(last).toHaveText('Crate 1Found here')
})

test('On a network that loses every request, a scan shows within seconds that the server cannot be reached', async ({
  page,
}) => {
  const { org, hall } = await warehouse()
  await org.signIn(page, org.email, `/scan?location=${hall.id}`)
  await expect.poll(() => counts(page)).toEqual(['0', '0', '3', '0'])
  await page.route('**', () => undefined)
  await enter(page, 'CRATE-1')
  await expect(page.getByText('The server cannot be reached', { exact: true })).toBeVisible({ timeout: 40_000 })
  await page.unrouteAll()
  await expect.poll(() => counts(page)).toEqual(['1', '0', '2', '0'])
})

test('Waiting codes and errors do not move the controls of a stocktake', async ({ page }) => {
  allowErrors(/net::ERR_FAILED.*codes\/resolve/)
  const { org, hall } = await warehouse()
  await org.signIn(page, org.email, `/scan?location=${hall.id}`)
  await enter(page, 'CRATE-1')
  await expect.poll(() => counts(page)).toEqual(['1', '0', '2', '0'])
  const positions = async (): Promise<(number | undefined)[]> =>
    Promise.all(
      [page.getByRole('tab', { name: /Found/ }), page.getByRole('button', { name: /^Save/ })].map(
        async (one) => (await one.boundingBox())?.y,
      ),
    )
  const before = await positions()
  await page.route('**/api/v1/codes/resolve', (route) => route.abort())
  await enter(page, 'CRATE-3')
  await expect(page.getByRole('status', { name: 'Waiting codes' })).toBeVisible()
  await expect(page.getByRole('alert')).toContainText('No connection')
  expect(await positions()).toEqual(before)
})

test('A link to another location asks what happens to the codes that are not saved', async ({ page }) => {
  const { org, hall, dock } = await warehouse()
  await org.signIn(page, org.email, `/scan?location=${hall.id}`)
  await enter(page, 'CRATE-1, CRATE-3, NO-SUCH')
  await expect.poll(() => counts(page)).toEqual(['2', '0', '1', '1'])
  await page.goto(`${url()}/locations/${dock.id}`)
  await page.getByRole('link', { name: 'Scan here' }).click()
  const question = page.getByRole('alert').filter({ hasText: 'Dock 1' })
  await expect(question).toContainText('2 assets are not saved at Hall A yet.')
  await expect(question).toContainText('1 unknown code')
  await expect(page.getByRole('combobox', { name: 'Location' })).toHaveValue('Hall A (HALL-A)')
  await expect.poll(() => counts(page)).toEqual(['2', '0', '1', '1'])
  await question.getByRole('button', { name: 'Stay at Hall A' }).click()
  await expect(page).toHaveURL(new RegExp(`location=${hall.id}`))
  await expect(question).toHaveCount(0)

  // A code that is scanned while the question is open belongs to the next location.
  await page.goto(`${url()}/scan?location=${dock.id}`)
  await expect(question).toContainText('2 assets are not saved at Hall A yet.')
  await enter(page, 'CRATE-2')
  await expect.poll(() => counts(page)).toEqual(['2', '1', '1', '1'])
  await question.getByRole('button', { name: 'Save 2 at Hall A' }).click()
  await expect(page.getByRole('combobox', { name: 'Location' })).toHaveValue('Dock 1 (DOCK-1)')
  await expect.poll(() => counts(page)).toEqual(['1', '0', '0', '0'])
})

test('The scan page without a location continues with the codes that are not saved', async ({ page }) => {
  allowErrors(/net::ERR_FAILED.*codes\/resolve/)
  const { org, hall, dock } = await warehouse()
  await org.signIn(page, org.email, `/scan?location=${hall.id}`)
  await enter(page, 'NO-SUCH')
  await expect.poll(() => counts(page)).toEqual(['0', '0', '3', '1'])
  await page.goto(`${url()}/scan`)
  await expect(page).toHaveURL(new RegExp(`location=${hall.id}`))
  await expect.poll(() => counts(page)).toEqual(['0', '0', '3', '1'])

  // An unknown code alone is a reason to ask.
  await pick(page, 'Dock 1')
  const question = page.getByRole('alert').filter({ hasText: 'Dock 1' })
  await expect(question).toContainText('1 unknown code')
  await question.getByRole('button', { name: 'Switch and keep 1 code' }).click()
  await expect(page).toHaveURL(new RegExp(`location=${dock.id}`))
  await expect.poll(() => counts(page)).toEqual(['0', '0', '1', '1'])

  // So is a code that waits for the server.
  await page.getByRole('button', { name: 'Clear' }).click()
  await page.route('**/api/v1/codes/resolve', (route) => route.abort())
  await enter(page, 'CRATE-4')
  await expect(page.getByRole('status', { name: 'Waiting codes' })).toBeVisible()
  await pick(page, 'Hall A')
  const second = page.getByRole('alert').filter({ hasText: 'Hall A' })
  await expect(second).toContainText('1 code is waiting for the server')
  await expect(second.getByRole('button', { name: /^Save/ })).toHaveCount(0)
  await second.getByRole('button', { name: 'Discard 1 code' }).click()
  await expect(page).toHaveURL(new RegExp(`location=${hall.id}`))
  await expect(page.getByRole('status', { name: 'Waiting codes' })).toHaveCount(0)
})
