import { goToPage, inMainMenu } from './support/navigation.ts'
import { Org, call, serverLog, password, url } from './support/org.ts'
import { expect, test } from './support/test.ts'
import { settled } from './support/page-checks.ts'

test('A user signs up, creates a location and an asset, and signs out', { tag: '@phone' }, async ({ page }) => {
  const seen: string[] = []
  page.on('request', (request) => seen.push(request.url()))
  await page.goto(url())
  await expect(page).toHaveURL(/\/sign-in$/)
  await page.getByRole('link', { name: 'Create an organization' }).click()
  await page.getByLabel('Organization').fill('Fresh & Co <b>')
  await page.getByLabel('E-mail').fill(`new-${Date.now()}@example.com`)
  await page.getByRole('textbox', { name: 'Password' }).fill('short')
  await page.getByRole('button', { name: 'Create organization' }).click()
  await expect(page.getByText('At least 10 characters').last()).toBeVisible()
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Create organization' }).click()
  await page.getByRole('button', { name: 'Create a location' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Shed')
  await page.getByRole('button', { name: 'Create location' }).click()
  await page.getByRole('button', { name: 'Create an asset' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Ladder')
  await page.getByRole('button', { name: 'Create asset' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Ladder' })).toBeVisible()
  await inMainMenu(page, (menu) => expect(menu.getByText('Fresh & Co <b>')).toBeVisible())

  const stored = await page.evaluate(() => localStorage.getItem('lastseen.session') ?? '')
  const token = (JSON.parse(stored) as { refresh_token: string }).refresh_token
  expect(seen.filter((one) => one.includes(token) || one.includes('eyJ'))).toEqual([])

  await page.getByRole('button', { name: 'Account menu' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect(page).toHaveURL(/\/sign-in/)
  expect(await page.evaluate(() => localStorage.getItem('lastseen.session'))).toBeNull()
})

test('A wrong password is rejected with a message, and signing in leads to the requested page', async ({ page }) => {
  const org = await Org.create()
  await page.goto(`${url()}/assets?q=crate`)
  await expect(page).toHaveURL(/\/sign-in\?to=/)
  await page.getByLabel('E-mail').fill(org.email)
  await page.getByRole('textbox', { name: 'Password' }).fill('not the password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('alert')).toContainText('Sign-in failed')
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page).toHaveURL(/\/assets\?q=crate$/)
})

test('Tabs share one session: one tab refreshes an expired token for all tabs', async ({ context }) => {
  const org = await Org.create()
  const first = await context.newPage()
  await org.signIn(first)
  await settled(first)
  const stored = (): Promise<{ access_token_expires_at: number }> =>
    first.evaluate(
      () => JSON.parse(localStorage.getItem('lastseen.session') ?? '{}') as { access_token_expires_at: number },
    )
  await first.evaluate(() => {
    const stored = JSON.parse(localStorage.getItem('lastseen.session') ?? '{}') as object
    localStorage.setItem('lastseen.session', JSON.stringify({ ...stored, access_token_expires_at: 0 }))
  })
  let exchanges = 0
  context.on('request', (request) => {
    if (request.url().endsWith('/auth/refresh')) exchanges++
  })
  const tabs = await Promise.all([context.newPage(), context.newPage(), context.newPage()])
  await Promise.all(tabs.map((tab) => tab.goto(`${url()}/assets`)))
  await expect.poll(async () => (await stored()).access_token_expires_at).toBeGreaterThan(Date.now())
  for (const tab of [...tabs, first]) {
    await tab.goto(`${url()}/locations`)
    await expect(tab.getByRole('heading', { level: 1, name: 'Locations' })).toBeVisible()
  }
  expect(exchanges).toBe(1)
})

test('Signing out everywhere ends the session of another browser at its next request', async ({
  page: one,
  anotherBrowser,
}) => {
  const org = await Org.create()
  const other = await anotherBrowser()
  await org.signIn(one, org.email, '/settings/account')
  await org.signIn(other)
  await settled(other)
  await one.getByRole('button', { name: 'Sign out everywhere' }).click()
  await one.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
  await expect(one).toHaveURL(/\/sign-in/)
  await other.goto(`${url()}/assets`)
  await expect(other).toHaveURL(/\/sign-in/)
})

test('The sign-in page states why the session ended, and the join page without a link says what to do', async ({
  page: other,
}) => {
  const org = await Org.create()
  const reason = other.getByRole('status', { name: 'Session' })
  await other.goto(`${url()}/sign-in`)
  await expect(other.getByRole('heading', { level: 1, name: 'Sign in' })).toBeVisible()
  await expect(reason).toHaveCount(0)
  await org.signIn(other, org.email, '/assets')
  await other.getByRole('button', { name: 'Account menu' }).click()
  await other.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect(reason).toHaveText('You signed out. Sign in again to continue.')

  await org.signIn(other)
  const change = { current_password: password, new_password: 'another long password' }
  const { access_token: token } = await call(null, 'POST', '/auth/login', { email: org.email, password })
  await call(token as string, 'POST', '/auth/password', change)
  await other.goto(`${url()}/assets`)
  await expect(reason).toHaveText('Your password was changed. Sign in again to continue.')
  await other.getByLabel('E-mail').fill(org.email)
  await other.getByRole('textbox', { name: 'Password' }).fill('another long password')
  await other.getByRole('button', { name: 'Sign in' }).click()
  await expect(other.getByRole('heading', { level: 1, name: 'Assets' })).toBeVisible()

  let lookups = 0
  other.on('request', (request) => (lookups += request.url().includes('/invitations/') ? 1 : 0))
  await other.goto(`${url()}/join`)
  await expect(other.getByText('To join, open the whole link of your invitation.')).toBeVisible()
  await expect(other.getByRole('alert')).toHaveCount(0)
  expect(lookups).toBe(0)
})

test('A user downloads everything that is stored about them', async ({ page }) => {
  const org = await Org.create()
  await org.signIn(page, org.email, '/settings/account')
  const button = page.getByRole('button', { name: 'Download your data' })
  const [file] = await Promise.all([page.waitForEvent('download'), button.click()])
  expect(file.suggestedFilename()).toBe('account.ndjson')
  const text = Buffer.concat(await (await file.createReadStream()).toArray()).toString('utf8')
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { email?: string; end?: boolean; rows?: object })
  expect(lines[0]?.email).toBe(org.email)
  expect(lines.at(-1)).toMatchObject({ end: true, rows: { users: 1, memberships: 1 } })
})

test('Changing the password requires the current password', async ({ page }) => {
  const org = await Org.create()
  await org.signIn(page, org.email, '/settings/account')
  await page.getByLabel('Current password').fill('not the password')
  await page.getByLabel('New password').fill('another long password')
  await page.getByRole('button', { name: 'Change password' }).click()
  await expect(page.getByLabel('Current password')).toHaveAttribute('data-invalid', 'true')
  await page.getByLabel('Current password').fill(password)
  await page.getByRole('button', { name: 'Change password' }).click()
  await expect(page.getByText('Password changed')).toBeVisible()
  await call(null, 'POST', '/auth/login', { email: org.email, password: 'another long password' })
})

test('A password reset request gives the same response with and without an account', async ({ page }) => {
  await page.goto(`${url()}/forgot-password`)
  await page.getByLabel('E-mail').fill('unknown@example.com')
  await page.getByRole('button', { name: 'Send the link' }).click()
  await expect(page.getByRole('heading', { name: 'Check your e-mail' })).toBeVisible()
})

test('A password reset link works once and replaces the old password', async ({ page }) => {
  const org = await Org.create()
  await page.goto(`${url()}/sign-in`)
  await page.getByRole('link', { name: /forgot/i }).click()
  // The previous page has a field with the same name.
  await expect(page.getByRole('heading', { name: 'Reset your password' })).toBeVisible()
  await page.getByLabel('E-mail').fill(org.email)
  await page.getByRole('button', { name: 'Send the link' }).click()
  await expect(page.getByRole('heading', { name: 'Check your e-mail' })).toBeVisible()
  // Without a mail server, the server writes the link to its log.
  const resetLink = (): string | undefined =>
    new RegExp(`Password reset for ${org.email}: (\\S+)`).exec(serverLog())?.[1]
  await expect.poll(resetLink).toBeDefined()
  const hash = new URL(resetLink()!).hash
  await page.goto(`${url()}/reset-password${hash}`)
  const field = page.getByRole('textbox', { name: 'New password' })
  await field.fill('short')
  await page.getByRole('button', { name: 'Set password' }).click()
  await expect(page.getByText('At least 10 characters').last()).toBeVisible()
  await field.fill('a wholly new password')
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByRole('link', { name: 'Go to sign-in' }).click()
  const signIn = async (secret: string): Promise<void> => {
    await page.getByLabel('E-mail').fill(org.email)
    await page.getByRole('textbox', { name: 'Password' }).fill(secret)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  await signIn(password)
  await expect(page.getByRole('alert')).toBeVisible()
  await signIn('a wholly new password')
  await expect(page.getByRole('button', { name: 'Account menu' })).toBeVisible()

  await page.goto(`${url()}/reset-password${hash}`)
  await field.fill('yet another password')
  await page.getByRole('button', { name: 'Set password' }).click()
  await expect(page.getByRole('alert')).toBeVisible()
})

test('An admin invites a member and changes the role; the last admin cannot be removed', async ({
  page,
  anotherBrowser,
}) => {
  const org = await Org.create('Harbour')
  await org.signIn(page, org.email, '/settings/members')
  await page.getByRole('button', { name: 'Invite' }).click()
  const email = `guest-${Date.now()}@example.com`
  await page.getByRole('dialog').getByLabel('E-mail').fill(email)
  await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
  const link = await page.getByRole('dialog').locator('pre').innerText()
  await page.getByRole('button', { name: 'I have saved it' }).click()
  await expect(page.getByText('Pending invitations')).toBeVisible()
  await expect(page.getByText('expires in 7 days')).toBeVisible()
  await org.post('/invitations', { email: 'wrong@example.com', role: 'admin' })
  await page.reload()
  await page.getByRole('button', { name: 'Withdraw the invitation of wrong@example.com' }).click()
  await expect(page.getByText('Invitation for wrong@example.com')).toHaveCount(0)

  const guest = await anotherBrowser()
  await guest.goto(`${url()}/join${new URL(link).hash}`)
  await expect(guest.getByText('You are invited to')).toHaveText(/Harbour as Operator\. Can see everything, scan tags,/)
  expect(new URL(guest.url()).hash).toBe('')
  await guest.getByLabel('Choose a password').fill(password)
  await guest.getByRole('button', { name: 'Join Harbour' }).click()
  await expect(guest.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()
  await goToPage(guest, 'Scan')
  await expect(guest.getByRole('heading', { level: 1, name: 'Scan' })).toBeVisible()

  await page.reload()
  await page.getByRole('combobox', { name: `Role of ${email}` }).click()
  await page.getByRole('option', { name: 'Viewer' }).click()
  await expect(page.getByText('It applies immediately')).toBeVisible()
  await page.getByRole('button', { name: `Remove ${org.email}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove member' }).click()
  await expect(page.getByRole('dialog').getByRole('alert')).toContainText('conflicts')
})

test('A member of two organizations switches between them', async ({ page }) => {
  const [here, there] = [await Org.create('Here'), await Org.create('There')]
  const { link } = (await there.post('/invitations', { email: here.email, role: 'viewer' })) as { link: string }
  const token = new URLSearchParams(new URL(link).hash.slice(1)).get('token')
  await call(null, 'POST', '/auth/invitations/accept', { token, password })
  await here.asset('Only here')
  await here.signIn(page, here.email, '/assets')
  let target = ''
  await inMainMenu(page, async (menu) => {
    const here = menu.getByRole('button', { name: 'Switch organization' })
    target = (await here.innerText()).includes('Here') ? 'There' : 'Here'
    await here.click()
    await page.getByRole('menuitem', { name: target }).click()
    await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()
  })
  await inMainMenu(page, (menu) =>
    expect(menu.getByRole('button', { name: 'Switch organization' })).toContainText(target),
  )
})
