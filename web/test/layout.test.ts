import { watchLayoutShifts } from './support/layout-shifts.ts'
import { goToPage } from './support/navigation.ts'
import { warehouse } from './support/org.ts'
import { settled } from './support/page-checks.ts'
import { expect, test } from './support/test.ts'

test('No control moves by itself while the app is used', async ({ page, context }) => {
  const moved = await watchLayoutShifts(context)
  // Data that arrive late: input excuses shifts for half a second.
  await context.route(/\/api\/v1\/(?!live|auth)/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 700))
    await route.continue()
  })
  const { org, hall, reader, tag } = await warehouse()
  await page.setViewportSize({ width: 1280, height: 1400 })
  const expectNoShift = async (where: string): Promise<void> => {
    // Input excuses shifts for half a second.
    await page.waitForTimeout(700)
    expect.soft(moved.splice(0), where).toEqual([])
  }

  await org.signIn(page)
  await settled(page)
  await expect(page.locator('[data-live=live]')).toBeVisible()
  await expectNoShift('The overview loads')
  const first = page.getByRole('log', { name: 'Moves' }).locator('.move-row').first()
  await org.read(reader.token, [{ tag: tag(3), antenna: 2 }])
  await expect(first).toContainText('Crate 3')
  await expectNoShift('A move arrives')
  await first.hover()
  await org.read(reader.token, [{ tag: tag(4), antenna: 2 }])
  await expect(page.getByRole('button', { name: '1 new move' })).toBeVisible()
  await org.read(reader.token, [{ tag: tag(5), antenna: 2 }])
  await expect(page.getByRole('button', { name: '2 new moves' })).toBeVisible()
  await expectNoShift('Moves arrive under the pointer')

  await goToPage(page, 'Assets')
  await settled(page)
  await expectNoShift('The assets load')
  await page.getByLabel('Search assets').pressSequentially('crate 3')
  await expect(page.getByRole('table', { name: 'Assets' }).getByRole('row')).toHaveCount(2)
  await expectNoShift('Assets are searched')
  await page.getByRole('link', { name: 'Crate 3' }).click()
  await settled(page)
  await expectNoShift('An asset loads')
  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Crate three')
  await expectNoShift('An asset is edited')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Crate three' })).toBeVisible()
  await expectNoShift('An asset is saved')

  await page.goto(new URL(`/locations/${hall.id}`, page.url()).href)
  await settled(page)
  await page.getByRole('heading', { level: 1 }).hover()
  await org.read(reader.token, [{ tag: tag(6), antenna: 1 }])
  await expect(page.getByRole('table').first()).toContainText('Crate 6')
  await expectNoShift('An asset arrives at a location')
  await page.getByRole('table').first().hover()
  const refreshed = page.waitForResponse(/\/overview/)
  await org.read(reader.token, [{ tag: tag(2), antenna: 1 }])
  await refreshed
  await expectNoShift('An asset arrives at a location under the pointer')

  await page.goto(new URL(`/scan?location=${hall.id}`, page.url()).href)
  await settled(page)
  await expectNoShift('The scan page loads')
  for (const key of ['CRATE-6', 'CRATE-5', 'NO-SUCH']) await page.keyboard.type(`${key}\n`)
  await expect(page.locator('[data-count]')).toHaveText(['1', '1', '2', '1'])
  await expectNoShift('Codes are scanned')

  for (const path of [
    ...['/unseen', '/assets', '/locations', '/readers', `/readers/${String(reader.id)}`, '/readers/inbox', '/reports'],
    ...['/reports?tab=dwell', '/reports?tab=flow', '/reports?tab=history', '/labels', '/import', '/settings/account'],
    ...['/settings/api-keys', '/settings/webhooks', '/settings/members'],
  ]) {
    await page.goto(new URL(path, page.url()).href)
    await settled(page)
    await expectNoShift(`${path} loads`)
  }
})

test('No control moves while a page loads on a phone', async ({ page, context }) => {
  const moved = await watchLayoutShifts(context)
  await context.route(/\/api\/v1\/(?!live|auth)/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 300))
    await route.continue()
  })
  const { org, site, hall, assets, reader } = await warehouse()
  await page.setViewportSize({ width: 360, height: 740 })
  await org.signIn(page)
  for (const path of [
    ...['/', '/assets', `/assets/${assets[0]!.id}`, '/locations', '/readers/inbox'],
    ...[`/locations/${hall.id}`, `/locations/${site.id}`, `/readers/${String(reader.id)}`],
    ...[`/scan?location=${hall.id}`, '/reports'],
  ]) {
    await page.goto(new URL(path, page.url()).href)
    await settled(page)
    // The last shift is reported after the frame that shows it.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
    expect.soft(moved.splice(0), path).toEqual([])
  }
})
