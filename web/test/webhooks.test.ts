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
