import type { Page } from '@playwright/test'
import { MailServer, textOf } from '../../server/test/support/smtp.ts'
import { StubBroker } from './support/broker.ts'
import { goToPage } from './support/navigation.ts'
import { type ServerProcess, startServer } from './support/server-process.ts'
import { expect, test } from './support/test.ts'
import { expectAccessible } from './support/page-checks.ts'

/** A server with its own settings and a single organization. */
let server: ServerProcess
const broker = new StubBroker()

test.beforeAll(async () => {
  server = await startServer({
    LASTSEEN_ROOT_SURFACE: 'natural-key',
    LASTSEEN_MQTT_URL: await broker.listen(),
    LASTSEEN_SIGNUP: 'invite-only',
  })
})
test.afterAll(async () => {
  await server.stop()
  broker.close()
})

async function signIn(page: Page, path: string): Promise<void> {
  const [, email = ''] = /Sign in with +(\S+)/.exec(server.startupOutput) ?? []
  const [, secret = ''] = /Password +(\S+)/.exec(server.startupOutput) ?? []
  await page.goto(`${server.url}${path}`)
  await page.getByLabel('E-mail').fill(email)
  await page.getByRole('textbox', { name: 'Password' }).fill(secret)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test('With the v1.0.0 API at the root, the app uses the other base URL and every page opens [D1]', async ({ page }) => {
  const failedResponses: string[] = []
  const requestedPaths = new Set<string>()
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    if (response.status() >= 400) failedResponses.push(`${response.status()} ${pathname}`)
    requestedPaths.add(pathname)
  })
  await signIn(page, '/assets')
  await page.getByRole('button', { name: 'Create asset' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Ladder')
  await page.getByRole('dialog').getByRole('button', { name: 'Create asset' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Ladder' })).toBeVisible()
  await goToPage(page, 'Locations')
  await page.getByRole('button', { name: 'Create location' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Shed')
  await page.getByRole('dialog').getByRole('button', { name: 'Create location' }).click()
  // The server caches its counts for up to ten seconds; the page fetches them again.
  await expect(page.getByRole('list', { name: 'Locations' })).toContainText('Shed')
  await goToPage(page, 'Assets')
  await expect(page.getByRole('table', { name: 'Assets' })).toContainText('Ladder')
  for (const name of ['Overview', 'Reports', 'Labels', 'Readers']) {
    await goToPage(page, name)
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
  }
  await expect(page.locator('[data-live=live]')).toBeVisible()
  expect([...requestedPaths]).toEqual(expect.arrayContaining(['/primary/api/v1/assets', '/api/v1/overview']))
  expect(failedResponses).toEqual([])
})

test('With invitation-only sign-up, there is no link to it, and its page says how to get an account', async ({
  page,
}) => {
  await page.goto(`${server.url}/sign-in`)
  await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Create an organization' })).toHaveCount(0)
  await page.goto(`${server.url}/sign-up`)
  await expect(page.getByText('Ask an admin of your organization for an invitation')).toBeVisible()
  await expect(page.getByLabel('Organization')).toHaveCount(0)
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Sign in' }).click()
  await expect(page).toHaveURL(/\/sign-in$/)
})

test('An unknown reader appears in the inbox, and its messages are accepted after it is added', async ({ page }) => {
  await broker.publish('lastseen/gate-9/reads', '{"reads":[{"tag":"E2AB"}]}')
  await broker.publish('lastseen/<b>/x', 'hello')
  await signIn(page, '/readers/inbox')
  const table = page.getByRole('table', { name: 'Unregistered readers' })
  await expect(table.getByRole('row')).toHaveCount(3)
  await expect(table).toContainText('lastseen/<b>/x')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Create reader: lastseen/gate-9/reads' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByLabel('Name')).toHaveValue('gate-9')
  await dialog.getByLabel('Name').fill('Gate nine')
  await dialog.getByRole('button', { name: 'Create reader' }).click()
  await expect(dialog.getByText('The device needs no changes')).toBeVisible()
  await expect(dialog.locator('pre').last()).toContainText('lastseen/gate-9/reads')
  await dialog.getByRole('button', { name: 'I have saved it' }).click()
  await expect(table.getByRole('row')).toHaveCount(2)
  await broker.publish('lastseen/gate-9/reads', '{"reads":[{"tag":"E2AB"}]}')
  await expect(page.getByRole('table', { name: 'Unassigned tags' })).toContainText('E2AB')
  await goToPage(page, 'Readers')
  await expect(page.getByRole('row', { name: /Gate nine/ })).toContainText('reporting')
})

test('With mail set up, a new user confirms the e-mail address with the mailed link', async ({ page }) => {
  const mailServer = await MailServer.open()
  const own = await startServer({ LASTSEEN_SIGNUP: 'open', LASTSEEN_MAIL_URL: `smtp://127.0.0.1:${mailServer.port}` })
  try {
    await page.goto(`${own.url}/sign-up`)
    await page.getByLabel('Organization').fill('Northwind')
    await page.getByLabel('E-mail').fill('ada@example.com')
    await page.getByRole('textbox', { name: 'Password' }).fill('correct horse battery')
    await page.getByRole('button', { name: 'Create organization' }).click()
    const banner = page.getByRole('status').filter({ hasText: 'Confirm your e-mail address' })
    await expect(banner).toContainText('We sent a link to ada@example.com')
    await banner.getByRole('button', { name: 'Send again' }).click()
    await expect(page.getByText('Check your e-mail')).toBeVisible()
    await expect.poll(() => mailServer.mails.length).toBe(2)
    const [link] = /http:\S+\/confirm-email#token=\S+/.exec(textOf(mailServer.mails[1]!))!
    await page.goto(`${own.url}/confirm-email#token=wrong`)
    await expect(page.getByText('This link is invalid or has expired')).toBeVisible()
    await page.goto(link)
    await page.reload()
    await page.goto(link)
    await expect(page.getByRole('heading', { name: 'E-mail address confirmed' })).toBeVisible()
    await page.getByRole('link', { name: 'Go to Lastseen' }).click()
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await expect(banner).toHaveCount(0)
    // The page would request the server after its end.
    await page.goto('about:blank')
  } finally {
    // A page that is still open reports an error when its server stops.
    await page.goto('about:blank')
    await own.stop()
    await mailServer.close()
  }
})
