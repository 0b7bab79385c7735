import { goBy, inMainMenu } from './support/hands.ts'
import { Org, call, operatorsLog, password, url } from './support/org.ts'
import { expect, test } from './support/test.ts'
import { settled, watch } from './support/watch.ts'

test('Somebody signs up, names a place and a thing, and is signed out again', { tag: '@phone' }, async ({ page }) => {
  const complaints = watch(page)
  const seen: string[] = []
  page.on('request', (request) => seen.push(request.url()))
  await page.goto(url())
  await expect(page).toHaveURL(/\/sign-in$/)
  await page.getByRole('link', { name: 'Create an organization' }).click()
  await page.getByLabel('Organization').fill('Fresh & Co <b>')
  await page.getByLabel('Your e-mail').fill(`new-${Date.now()}@example.com`)
  await page.getByRole('textbox', { name: 'Password' }).fill('short')
  await page.getByRole('button', { name: 'Create organization' }).click()
  await expect(page.getByText('At least 10 characters').last()).toBeVisible()
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Create organization' }).click()
  await page.getByRole('button', { name: 'Add a place' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Shed')
  await page.getByRole('button', { name: 'Create location' }).click()
  await page.getByRole('button', { name: 'Add an asset' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Ladder')
  await page.getByRole('button', { name: 'Create asset' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Ladder' })).toBeVisible()
  await inMainMenu(page, (menu) => expect(menu.getByText('Fresh & Co <b>')).toBeVisible())

  const kept = await page.evaluate(() => localStorage.getItem('lastseen.session') ?? '')
  const token = (JSON.parse(kept) as { refresh_token: string }).refresh_token
  expect(seen.filter((one) => one.includes(token) || one.includes('eyJ'))).toEqual([])

  await page.getByRole('button', { name: 'Account menu' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect(page).toHaveURL(/\/sign-in/)
  expect(await page.evaluate(() => localStorage.getItem('lastseen.session'))).toBeNull()
  expect(complaints).toEqual([])
})

test('A wrong password is refused in plain words, and a deep link is where one lands after signing in', async ({
  page,
}) => {
  const org = await Org.create()
  await page.goto(`${url()}/assets?q=crate`)
  await expect(page).toHaveURL(/\/sign-in\?to=/)
  await page.getByLabel('E-mail').fill(org.email)
  await page.getByRole('textbox', { name: 'Password' }).fill('not the password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('alert')).toContainText('Request')
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page).toHaveURL(/\/assets\?q=crate$/)
})

test('Tabs share one session: when its token has run out, one tab trades it for all of them', async ({ context }) => {
  const org = await Org.create()
  const first = await context.newPage()
  await org.signIn(first)
  await settled(first)
  const kept = (): Promise<{ good_until: number }> =>
    first.evaluate(() => JSON.parse(localStorage.getItem('lastseen.session') ?? '{}') as { good_until: number })
  await first.evaluate(() => {
    const stored = JSON.parse(localStorage.getItem('lastseen.session') ?? '{}') as object
    localStorage.setItem('lastseen.session', JSON.stringify({ ...stored, good_until: 0 }))
  })
  let exchanges = 0
  context.on('request', (request) => {
    if (request.url().endsWith('/auth/refresh')) exchanges++
  })
  const tabs = await Promise.all([context.newPage(), context.newPage(), context.newPage()])
  await Promise.all(tabs.map((tab) => tab.goto(`${url()}/assets`)))
  await expect.poll(async () => (await kept()).good_until).toBeGreaterThan(Date.now())
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

test('A password is changed; the present one has to be right', async ({ page }) => {
  const org = await Org.create()
  await org.signIn(page, org.email, '/settings/account')
  await page.getByLabel('Present password').fill('not the password')
  await page.getByLabel('New password').fill('another long password')
  await page.getByRole('button', { name: 'Change password' }).click()
  await expect(page.getByLabel('Present password')).toHaveAttribute('data-invalid', 'true')
  await page.getByLabel('Present password').fill(password)
  await page.getByRole('button', { name: 'Change password' }).click()
  await expect(page.getByText('Password changed')).toBeVisible()
  await call(null, 'POST', '/auth/login', { email: org.email, password: 'another long password' })
})

test('A forgotten password: the answer is the same whether there is an account or not', async ({ page }) => {
  await page.goto(`${url()}/forgot-password`)
  await page.getByLabel('E-mail').fill('nobody@example.com')
  await page.getByRole('button', { name: 'Send the link' }).click()
  await expect(page.getByRole('heading', { name: 'Look into your mail' })).toBeVisible()
})

test('A forgotten password is replaced by way of the link; it works once, and the old password no more', async ({
  page,
}) => {
  const org = await Org.create()
  await page.goto(`${url()}/sign-in`)
  await page.getByRole('link', { name: /forgot/i }).click()
  // The page before has a field of that name too.
  await expect(page.getByRole('heading', { name: 'Reset your password' })).toBeVisible()
  await page.getByLabel('E-mail').fill(org.email)
  await page.getByRole('button', { name: 'Send the link' }).click()
  await expect(page.getByRole('heading', { name: 'Look into your mail' })).toBeVisible()
  // Without a mail server the link is told to whoever runs the program.
  const told = (): string | undefined => new RegExp(`Password reset for ${org.email}: (\\S+)`).exec(operatorsLog())?.[1]
  await expect.poll(told).toBeDefined()
  const hash = new URL(told()!).hash
  await page.goto(`${url()}/reset-password${hash}`)
  const field = page.getByRole('textbox', { name: 'New password' })
  await field.fill('short')
  await page.getByRole('button', { name: 'Set password' }).click()
  await expect(page.getByText('At least 10 characters').last()).toBeVisible()
  await field.fill('a wholly new password')
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByRole('link', { name: 'Go to sign in' }).click()
  const enter = async (secret: string): Promise<void> => {
    await page.getByLabel('E-mail').fill(org.email)
    await page.getByRole('textbox', { name: 'Password' }).fill(secret)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  await enter(password)
  await expect(page.getByRole('alert')).toBeVisible()
  await enter('a wholly new password')
  await expect(page.getByRole('button', { name: 'Account menu' })).toBeVisible()

  await page.goto(`${url()}/reset-password${hash}`)
  await field.fill('yet another password')
  await page.getByRole('button', { name: 'Set password' }).click()
  await expect(page.getByRole('alert')).toBeVisible()
})

test('An admin invites, the invited joins, gets another role, and the last admin cannot go', async ({
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
  await expect(page.getByText('Open invitations')).toBeVisible()

  const guest = await anotherBrowser()
  await guest.goto(`${url()}/join${new URL(link).hash}`)
  await expect(guest.getByText('You are invited to')).toContainText('Harbour')
  expect(new URL(guest.url()).hash).toBe('')
  await guest.getByLabel('Choose a password').fill(password)
  await guest.getByRole('button', { name: 'Join Harbour' }).click()
  await expect(guest.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()
  await goBy(guest, 'Scan')
  await expect(guest.getByRole('heading', { level: 1, name: 'Scan' })).toBeVisible()

  await page.reload()
  await page.getByRole('combobox', { name: `Role of ${email}` }).click()
  await page.getByRole('option', { name: 'Viewer' }).click()
  await expect(page.getByText('It counts from their next request on')).toBeVisible()
  await page.getByRole('button', { name: `Remove ${org.email}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove member' }).click()
  await expect(page.getByRole('dialog').getByRole('alert')).toContainText('clashes')
})

test('Somebody in two organizations goes from one to the other', async ({ page }) => {
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
