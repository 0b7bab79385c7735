import { Org, password, url, warehouse } from './support/org.ts'
import { expect, test } from './support/test.ts'
import { expectAccessible, settled, watch } from './support/watch.ts'

type World = Awaited<ReturnType<typeof warehouse>>
let world: World

test.beforeAll(async () => {
  world = await warehouse()
})

const outside = ['/sign-in', '/sign-up', '/forgot-password', '/reset-password', '/join']

const inside: [string, (world: World) => string][] = [
  ['Overview', () => '/'],
  ['Assets', () => '/assets'],
  ['an asset', ({ assets }) => `/assets/${assets[0]!.id}`],
  ['Locations', () => '/locations'],
  ['a location', ({ hall }) => `/locations/${hall.id}`],
  ['Scan', ({ hall }) => `/scan?place=${hall.id}`],
  ['Readers', () => '/readers'],
  ['a reader', ({ reader }) => `/readers/${reader.id}`],
  ['Inbox', () => '/readers/inbox'],
  ['Import & export', () => '/import'],
  ['Labels', () => '/labels'],
  ['Reports', () => '/reports'],
  ['Account', () => '/settings/account'],
  ['API Keys', () => '/settings/api-keys'],
  ['Webhooks', () => '/settings/webhooks'],
  ['Members', () => '/settings/members'],
]

test(
  'Every page for people who are not signed in opens, fits, and has no serious axe violation',
  { tag: '@phone' },
  async ({ page }) => {
    const complaints = watch(page)
    for (const path of outside) {
      await page.goto(url() + path)
      await settled(page)
      await expectAccessible(page)
    }
    expect(complaints).toEqual([])
  },
)

test(
  'Every page of the app opens by its address, fits, and has no serious axe violation',
  { tag: '@phone' },
  async ({ page }, { project }) => {
    // Light on the desk, dark on the phone: both schemes are seen, each once.
    await page.emulateMedia({ colorScheme: project.name === 'phone' ? 'dark' : 'light', reducedMotion: 'reduce' })
    const complaints = watch(page)
    await world.org.signIn(page)
    await settled(page)
    for (const [name, path] of inside)
      await test.step(name, async () => {
        await page.goto(url() + path(world))
        await settled(page)
        await expectAccessible(page)
      })
    expect(complaints).toEqual([])
  },
)

test('A link that leads nowhere ends on a page that says so and leads back', async ({ page }) => {
  await page.goto(`${url()}/sign-in?to=/nowhere`)
  await page.getByLabel('E-mail').fill(world.org.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'There is no such page' })).toBeVisible()
  await expect(page).toHaveTitle('Not found · Lastseen')
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Go to the overview' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible()
})

test('An empty organization is shown the way to its first sighting on every page', async ({ page }) => {
  const org = await Org.create('Empty')
  await org.signIn(page)
  await expect(page.getByText('Name your places')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Add a place' })).toBeVisible()
  for (const [path, words] of [
    ['/assets', 'No assets yet'],
    ['/locations', 'No places yet'],
    ['/readers', 'No readers yet'],
    ['/readers/inbox', 'No unknown tags'],
    ['/settings/api-keys', 'No keys yet'],
    ['/scan', 'There are no places yet'],
    ['/labels', 'There are no assets yet'],
  ] as const) {
    await page.goto(url() + path)
    await expect(page.getByText(words)).toBeVisible()
    await expectAccessible(page)
  }
})
