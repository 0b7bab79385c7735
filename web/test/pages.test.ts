import { readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import { goToPage } from './support/navigation.ts'
import { Org, password, url, warehouse } from './support/org.ts'
import { allowErrors, expect, test } from './support/test.ts'
import { expectAccessible, settled, showTheme } from './support/page-checks.ts'

type Fixture = Awaited<ReturnType<typeof warehouse>>
let fixture: Fixture

test.beforeAll(async () => {
  fixture = await warehouse()
})

const publicPages = ['/sign-in', '/sign-up', '/forgot-password', '/reset-password', '/confirm-email', '/join']

const appPages: [string, (fixture: Fixture) => string][] = [
  ['Overview', () => '/'],
  ['Assets not seen recently', () => '/unseen'],
  ['Assets never seen', () => '/unseen?show=never'],
  ['Assets', () => '/assets'],
  ['an asset', ({ assets }) => `/assets/${assets[0]!.id}`],
  ['Locations', () => '/locations'],
  ['a location', ({ hall }) => `/locations/${hall.id}`],
  ['Scan', ({ hall }) => `/scan?location=${hall.id}`],
  ['Readers', () => '/readers'],
  ['a reader', ({ reader }) => `/readers/${reader.id}`],
  ['Inbox', () => '/readers/inbox'],
  ['Import & export', () => '/import'],
  ['Labels', () => '/labels'],
  ['Reports', () => '/reports'],
  ['Time per location', () => '/reports?tab=dwell'],
  ['Flow', () => '/reports?tab=flow'],
  ['History', () => '/reports?tab=history'],
  ['Account', () => '/settings/account'],
  ['API keys', () => '/settings/api-keys'],
  ['Webhooks', () => '/settings/webhooks'],
  ['Members', () => '/settings/members'],
]

/** The theme does not change what fits the screen, so a phone shows one. */
async function expectAccessibleInBothThemes(page: Page, within?: string): Promise<void> {
  await settled(page)
  await expectAccessible(page, within)
  if (page.viewportSize()!.width < 600) return
  await showTheme(page, 'dark')
  await expectAccessible(page, within)
  await showTheme(page, 'light')
}

test(
  'Every public page opens, fits the screen and has no axe violation in either theme',
  { tag: '@phone' },
  async ({ page }) => {
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
    for (const path of publicPages) {
      await page.goto(url() + path)
      await expectAccessibleInBothThemes(page)
    }
    const { link } = await fixture.org.post('/invitations', { email: 'guest@example.com', role: 'viewer' })
    const token = new URL(link as string).hash
    for (const [path, name] of [
      [`/reset-password${token}`, 'Set password'],
      [`/join${token}`, 'Join Northwind'],
    ] as const) {
      await page.goto(url() + path)
      await expect(page.getByRole('button', { name })).toBeVisible()
      await expectAccessibleInBothThemes(page)
    }
  },
)

test(
  'Every page of the app opens by its URL, fits the screen and has no axe violation in either theme',
  { tag: '@phone' },
  async ({ page }) => {
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
    await fixture.org.signIn(page)
    await settled(page)
    for (const [name, path] of appPages)
      await test.step(name, async () => {
        await page.goto(url() + path(fixture))
        await expectAccessibleInBothThemes(page)
      })
  },
)

const dialogs: [string | RegExp, (fixture: Fixture) => string, (page: Page) => Promise<void>][] = [
  ['Create asset', () => '/assets?create=yes', () => Promise.resolve()],
  ['Create location', () => '/locations?create=yes', () => Promise.resolve()],
  ['Create reader', () => '/readers?create=yes', () => Promise.resolve()],
  ['New key', () => '/settings/api-keys', (page) => page.getByRole('button', { name: 'New key' }).click()],
  ['Invite a member', () => '/settings/members', (page) => page.getByRole('button', { name: 'Invite' }).click()],
  [
    'Edit Crate 1',
    ({ assets }) => `/assets/${assets[0]!.id}`,
    (page) => page.getByRole('button', { name: 'Edit' }).click(),
  ],
  [
    'Rename the key',
    ({ assets }) => `/assets/${assets[0]!.id}`,
    async (page) => {
      await page.getByRole('button', { name: 'More actions' }).click()
      await page.getByRole('menuitem', { name: 'Rename the key' }).click()
    },
  ],
  [
    'Save this view',
    () => '/assets',
    async (page) => {
      await page.getByRole('button', { name: 'Views' }).click()
      await page.getByRole('menuitem', { name: 'Save this view' }).click()
    },
  ],
  [
    'Set the location of Crate 1',
    ({ assets }) => `/assets/${assets[0]!.id}`,
    (page) => page.getByRole('button', { name: 'Set location' }).click(),
  ],
  ['Edit Hall A', ({ hall }) => `/locations/${hall.id}`, (page) => page.getByRole('button', { name: 'Edit' }).click()],
  [
    'Delete Hall A?',
    ({ hall }) => `/locations/${hall.id}`,
    async (page) => {
      await page.getByRole('button', { name: 'More actions' }).click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
    },
  ],
  [
    'Replace the token of Gate?',
    ({ reader }) => `/readers/${reader.id}`,
    (page) => page.getByRole('button', { name: 'Replace token' }).click(),
  ],
  [
    'Delete Gate?',
    ({ reader }) => `/readers/${reader.id}`,
    (page) => page.getByRole('button', { name: 'Delete' }).click(),
  ],
  [
    'Delete Crate 1?',
    ({ assets }) => `/assets/${assets[0]!.id}`,
    async (page) => {
      await page.getByRole('button', { name: 'More actions' }).click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
    },
  ],
  [/^Remove admin-/, () => '/settings/members', (page) => page.getByRole('button', { name: 'Remove admin-' }).click()],
  ['Revoke ERP?', () => '/settings/api-keys', (page) => page.getByRole('button', { name: 'Revoke ERP' }).click()],
  ['Attach this tag', () => '/readers/inbox', (page) => page.getByRole('button', { name: 'Attach' }).first().click()],
  [
    'Sign out everywhere?',
    () => '/settings/account',
    (page) => page.getByRole('button', { name: 'Sign out everywhere' }).click(),
  ],
]

test('No dialog has an axe violation in either theme', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await fixture.org.signIn(page)
  const { org } = (await fixture.org.get('/auth/me')) as { org: { id: number } }
  await fixture.org.post(`/orgs/${org.id}/api-keys`, { name: 'ERP', scopes: ['assets:read'] })
  for (const [name, path, open] of dialogs)
    await test.step(String(name), async () => {
      await page.goto(url() + path(fixture))
      await open(page)
      await expect(page.getByRole('dialog', { name })).toBeVisible()
      await expectAccessibleInBothThemes(page, '[role=dialog]')
    })
})

test('The pages of the accessibility test are all routes of the app', async () => {
  const routes = readFileSync(new URL('../src/routes/router.tsx', import.meta.url), 'utf8')
  const paths = [...routes.matchAll(/lazyPage\('([^']+)'|path: '(\/[^']+)'/g)].map((match) => match[1] ?? match[2]!)
  const tested = [...publicPages, ...appPages.map(([, path]) => path(fixture))].map((path) =>
    path.replace(/\?.*/, '').replace(/^\/(assets|locations|readers)\/\d+$/, '/$1/'),
  )
  expect(paths.length).toBeGreaterThan(20)
  expect(paths.map((path) => path.replace(/\$\w+/, '')).filter((path) => !tested.includes(path))).toEqual([])
})

test('Settings are in the navigation, pages of one kind have one width, and placeholders differ from values', async ({
  page,
}) => {
  await fixture.org.signIn(page)
  const widths: number[] = []
  for (const name of ['Account', 'API keys', 'Webhooks', 'Members', 'Import & export', 'Scan']) {
    await goToPage(page, name)
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
    await settled(page)
    const box = await page.locator('.app-page > div').boundingBox()
    widths.push(box!.width)
    await expect(page.locator('.app-nav').getByRole('link', { name, exact: true })).toHaveAttribute(
      'data-status',
      'active',
    )
  }
  expect(new Set(widths).size, String(widths)).toBe(1)
  const styleOfPlaceholder = await page
    .getByRole('textbox', { name: 'Code' })
    .evaluate((field) => getComputedStyle(field, '::placeholder').fontStyle)
  expect(styleOfPlaceholder).toBe('italic')
  await page.goto(`${url()}/readers?create=yes`)
  await expect(page.getByRole('dialog').getByLabel('Name')).toHaveAttribute('placeholder', 'For example Dock 3')
})

test('On a tablet in portrait the navigation is on the screen, and one pixel below that behind the menu button', async ({
  page,
}) => {
  await page.setViewportSize({ width: 768, height: 1024 })
  await fixture.org.signIn(page)
  const link = page.locator('.app-nav').getByRole('link', { name: 'Reports' })
  await expect(link).toBeInViewport()
  await link.click()
  await expect(page.getByRole('heading', { level: 1, name: 'Reports' })).toBeVisible()
  await page.setViewportSize({ width: 767, height: 1024 })
  await expect(page.getByRole('button', { name: 'Menu', exact: true })).toBeVisible()
  await expect(link).toBeHidden()
})

test('An unknown URL shows a page that links to the overview', async ({ page }) => {
  await page.goto(`${url()}/sign-in?to=/nowhere`)
  await page.getByLabel('E-mail').fill(fixture.org.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Page not found' })).toBeVisible()
  await expect(page).toHaveTitle('Not found · Lastseen')
  await expectAccessibleInBothThemes(page)
  await page.getByRole('link', { name: 'Go to the overview' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()
})

test('A browser that opens an unknown URL gets the page of the app with status 404; the API answers in JSON', async ({
  page,
}) => {
  allowErrors(/status of 404.*\/nowhere\/at-all/)
  await fixture.org.signIn(page)
  const response = await page.goto(`${url()}/nowhere/at-all`)
  expect(response?.status()).toBe(404)
  await expect(page.getByRole('heading', { level: 1, name: 'Page not found' })).toBeVisible()
  for (const path of ['/api/v1/nowhere', '/api/nowhere', '/ingest/v1/nowhere']) {
    const other = await page.request.get(url() + path, { headers: { Accept: 'text/html' } })
    expect([path, other.status(), other.headers()['content-type']]).toEqual([path, 404, 'application/json'])
  }
})

test('Every page of an empty organization shows the next step', async ({ page }) => {
  const org = await Org.create('Empty')
  await org.signIn(page)
  await expect(page.getByText('Create locations')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Create a location' })).toBeVisible()
  for (const [path, text] of [
    ['/assets', 'No assets yet'],
    ['/locations', 'No locations yet'],
    ['/readers', 'No readers yet'],
    ['/readers/inbox', 'No unassigned tags'],
    ['/settings/api-keys', 'No keys yet'],
    ['/scan', 'There are no locations yet'],
    ['/labels', 'There are no assets yet'],
    ['/reports?tab=dwell', 'No sightings in this period.'],
  ] as const) {
    await page.goto(url() + path)
    await expect(page.getByText(text)).toBeVisible()
    await expectAccessible(page)
  }
})
