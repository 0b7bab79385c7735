import type { Locator, Page } from '@playwright/test'
import { url, warehouse } from './support/org.ts'
import { expect, test } from './support/test.ts'

test('The rows of a list that events change stay in place while the pointer is over them', async ({
  page: first,
  context,
}) => {
  const { org, hall, reader, tag } = await warehouse()
  await org.signIn(first, org.email, '/readers/inbox')
  const [second, third] = [await context.newPage(), await context.newPage()]
  const lists: [Page, string, (page: Page) => Locator, RegExp, expected: string][] = [
    [first, '/readers/inbox', (page) => page.getByRole('table', { name: 'Unassigned tags' }), /inbox\?/, 'E2EE'],
    [
      second,
      `/locations/${String(hall.id)}`,
      (page) => page.locator('section', { hasText: 'Arrivals and departures' }).locator('.move-row').first(),
      /history\?|asset-locations/,
      'Crate 5',
    ],
    [
      third,
      '/unseen?show=never',
      (page) => page.getByRole('table', { name: 'Assets never seen' }),
      /never-seen-assets/,
      'Crate 6',
    ],
  ]
  const refetched: string[] = []
  for (const [page, path, listOf, requests] of lists) {
    await page.goto(url() + path)
    await expect(page.locator('[data-live=live]')).toBeVisible()
    await listOf(page).hover()
    page.on('request', (request) => {
      if (requests.test(request.url())) refetched.push(request.url())
    })
  }
  const others = [first.waitForResponse(/\/api\/v1\/readers\?/), second.waitForResponse(/\/overview/)]
  await org.read(reader.token, [
    { tag: 'E2EE', antenna: 1 },
    { tag: tag(5), antenna: 1 },
  ])
  await Promise.all(others)
  expect(refetched).toEqual([])
  for (const [page, , listOf, , expected] of lists) {
    await page.getByRole('heading', { level: 1 }).hover()
    if (page === third) await expect(listOf(page)).not.toContainText('Crate 5')
    await expect(listOf(page)).toContainText(expected)
  }
})

test('Live reads stay in place while the pointer is over them, and then show what was read meanwhile', async ({
  page,
}) => {
  const { org, reader, tag } = await warehouse()
  await org.signIn(page, org.email, `/readers/${reader.id}`)
  const rows = page.getByRole('table', { name: 'Live reads' }).getByRole('row')
  await expect(rows.nth(1)).toContainText('RFID')
  const before = await rows.nth(1).innerText()
  await rows.nth(1).hover()
  await expect(page.getByText('paused', { exact: true })).toBeVisible()
  const loaded = page.waitForResponse(
    async (response) => /\/readers\/\d+\/reads$/.test(response.url()) && (await response.text()).includes('Crate 6'),
  )
  await org.read(reader.token, [{ tag: tag(6), antenna: 2 }])
  await loaded
  expect(await rows.nth(1).innerText()).toBe(before)
  await page.getByRole('heading', { level: 1 }).hover()
  await expect(rows.nth(1)).toContainText('Crate 6')
})

test('Unregistered readers stay in place while the pointer is over them', async ({ page, context }) => {
  const { org } = await warehouse()
  let requests = 0
  await context.route('**/api/v1/readers/unknown', (route) => {
    requests++
    const at = new Date().toISOString()
    const topics = Array.from({ length: requests }, (_, index) => ({
      ...{ topic: `lastseen/gate-${index}/reads`, topic_key: `gate-${index}`, messages: 1 },
      ...{ first_seen_at: at, last_seen_at: at },
    })).reverse()
    return route.fulfill({ json: { data: { reason: null, topics } } })
  })
  await page.clock.install()
  await org.signIn(page, org.email, '/readers/inbox')
  const rows = page.getByRole('table', { name: 'Unregistered readers' }).getByRole('row')
  await rows.nth(1).hover()
  const shown = await rows.count()
  await page.clock.fastForward(10_000)
  await expect(rows).toHaveCount(shown)
  expect(requests).toBe(shown - 1)
  await page.getByRole('heading', { level: 1 }).hover()
  await page.clock.fastForward(4000)
  await expect.poll(() => rows.count()).toBeGreaterThan(shown)
})
