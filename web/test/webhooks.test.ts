import { Org, warehouse } from './support/org.ts'
import { expect, test } from './support/test.ts'

test('A webhook is created with a secret that is shown once, tested, turned off on Save, and deleted', async ({
  page,
}) => {
  const org = await Org.create()
  await org.signIn(page)
  await page.getByRole('button', { name: 'Account menu' }).click()
  await page.getByRole('menuitem', { name: 'Webhooks' }).click()
  await page.getByLabel('URL').fill('http://example.com/hook')
  await page.getByRole('button', { name: 'Create webhook' }).click()
  await expect(page.getByText('begins with https://')).toBeVisible()
  // No server listens on this port, so the test event reports a connection error instead of a status.
  await page.getByLabel('URL').fill('https://127.0.0.1:9/hook')
  await page.getByRole('button', { name: 'Create webhook' }).click()
  const secret = await page.getByRole('dialog').locator('pre').innerText()
  expect(secret).toMatch(/^whsec_/)
  await page.getByRole('button', { name: 'I have saved it' }).click()
  await expect(page.getByText('delivering')).toBeVisible()
  await expect(page.getByText(secret)).toHaveCount(0)
  await page.getByRole('button', { name: 'Send test event' }).click()
  await expect(page.getByRole('status').filter({ hasText: 'no response' })).toBeVisible()

  await page.getByLabel('Deliver events').uncheck()
  await expect(page.getByText('failing', { exact: true })).toBeVisible()
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('off', { exact: true })).toBeVisible()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete webhook' }).click()
  await expect(page.getByRole('button', { name: 'Create webhook' })).toBeVisible()
})

test('A webhook whose attempts fail is shown as failing, since when, and with the last error', async ({ page }) => {
  const { org, tag, reader } = await warehouse()
  const hook = (await org.post('/webhooks', { url: 'https://127.0.0.1:9/hook', enabled: true })) as { id: number }
  await org.signIn(page, org.email, '/settings/webhooks')
  await expect(page.getByText('delivering', { exact: true })).toBeVisible()
  await org.read(reader.token, [{ tag: tag(3), antenna: 2 }])
  await expect(page.getByText('failing', { exact: true })).toBeVisible()
  await expect(page.getByText('delivering', { exact: true })).toHaveCount(0)
  const attempts = (await org.get(`/webhooks/${hook.id}/attempts`)) as { error: string }[]
  await expect(page.getByRole('alert')).toContainText('No delivery has succeeded since')
  await expect(page.getByRole('alert')).toContainText(attempts[0]!.error)
})

test('A failing webhook names the first failure after the last success, and the alert moves no control', async ({
  page,
}) => {
  const { org } = await warehouse()
  await org.post('/webhooks', { url: 'https://127.0.0.1:9/hook', enabled: true })
  const failingSince = new Date(Date.now() - 3 * 86_400_000).toISOString()
  let isFailing = false
  await page.route(/\/api\/v1\/webhooks(\?.*)?$/, async (route) => {
    const response = await route.fetch()
    const body = (await response.json()) as { data: { failing_since: string | null }[] }
    for (const one of body.data) one.failing_since = isFailing ? failingSince : null
    await route.fulfill({ response, json: body })
  })
  await org.signIn(page, org.email, '/settings/webhooks')
  await expect(page.getByText('delivering', { exact: true })).toBeVisible()
  const controls = [page.getByLabel('URL'), page.getByRole('button', { name: 'Send test event' })]
  const positions = async (): Promise<(number | undefined)[]> =>
    Promise.all(controls.map(async (one) => (await one.boundingBox())?.y))
  const before = await positions()
  isFailing = true
  await expect(page.getByText('failing', { exact: true })).toBeVisible()
  const date = await page.evaluate(
    (at) => new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' }).format(new Date(at)),
    failingSince,
  )
  await expect(page.getByRole('alert')).toContainText('Webhook deliveries are failing')
  await expect(page.getByRole('alert')).toContainText(date)
  expect(await positions()).toEqual(before)
})

test('The webhook form sends only what was changed', async ({ page }) => {
  const org = await Org.create()
  const hook = (await org.post('/webhooks', { url: 'https://127.0.0.1:9/old', enabled: true })) as { id: number }
  await org.signIn(page, org.email, '/settings/webhooks')
  await expect(page.getByLabel('URL')).toHaveValue('https://127.0.0.1:9/old')
  await org.patch(`/webhooks/${hook.id}`, { url: 'https://127.0.0.1:9/new' })
  await page.getByLabel('Deliver events').uncheck()
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('off', { exact: true })).toBeVisible()
  expect(await org.get(`/webhooks/${hook.id}`)).toMatchObject({ url: 'https://127.0.0.1:9/new', enabled: false })
  await expect(page.getByLabel('URL')).toHaveValue('https://127.0.0.1:9/new')
})
