import type { Page } from '@playwright/test'
import { FrontProxy } from './support/front-proxy.ts'
import { Org, password, url } from './support/org.ts'
import { allowErrors, expect, test } from './support/test.ts'

test.use({ serviceWorkers: 'allow' })

let proxy: FrontProxy
test.beforeEach(async () => {
  proxy = new FrontProxy(url())
  await proxy.start()
})
test.afterEach(() => proxy.stop())

async function signIn(page: Page, org: Org, path: string): Promise<void> {
  await page.goto(`${proxy.url}${path}`)
  await page.getByLabel('E-mail').fill(org.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('button', { name: 'Account menu' })).toBeVisible()
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready
  })
}

/** The paths of all responses that the browser keeps for the app. */
const cachedPaths = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    const requests = []
    for (const name of await caches.keys()) requests.push(...(await (await caches.open(name)).keys()))
    return requests.map((one) => one.url.slice(location.origin.length))
  })

test('A page that is reloaded while the server cannot be reached stays in the app and continues by itself', async ({
  page,
}) => {
  allowErrors(/net::ERR_(CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING)/)
  const org = await Org.create()
  await org.asset('Ladder')
  await signIn(page, org, '/assets')
  const table = page.getByRole('table', { name: 'Assets' })
  await expect(table).toContainText('Ladder')
  await expect.poll(() => cachedPaths(page)).toContainEqual(expect.stringMatching(/^\/static\/assets-page-/))

  await proxy.stop()
  await page.reload()
  const banner = page.getByRole('status').filter({ hasText: 'The server cannot be reached' })
  await expect(banner).toBeVisible()
  await expect(page.getByRole('button', { name: 'Account menu' })).toBeVisible()
  await expect(page.getByRole('heading', { level: 1, name: 'Assets' })).toBeVisible()
  await expect(page).toHaveURL(`${proxy.url}/assets`)

  await page.evaluate(() => document.body.setAttribute('data-not-reloaded', ''))
  await proxy.start()
  await expect(table).toContainText('Ladder')
  await expect(banner).toHaveCount(0)
  await expect(page.locator('body[data-not-reloaded]')).toBeVisible()
})

test('The browser keeps the page and the code of the app, and no data', async ({ page }) => {
  const org = await Org.create()
  const asset = await org.asset('Ladder')
  await signIn(page, org, `/assets/${asset.id}`)
  await expect(page.getByRole('heading', { level: 1, name: 'Ladder' })).toBeVisible()
  await page.reload()
  await expect(page.getByRole('heading', { level: 1, name: 'Ladder' })).toBeVisible()
  await page.getByRole('button', { name: 'Account menu' }).click()
  await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click()
  await expect(page).toHaveURL(/\/sign-in/)
  const paths = await cachedPaths(page)
  expect(paths).toContain('/')
  expect(paths.filter((path) => path !== '/' && !/^\/static\/[\w.-]+\.(js|css)$/.test(path))).toEqual([])
  const texts = await page.evaluate(async () => {
    const cache = await caches.open((await caches.keys())[0]!)
    return Promise.all((await cache.keys()).map(async (one) => (await cache.match(one))!.text()))
  })
  for (const text of texts) expect(text).not.toContain(org.email)
})

test('A reload shows the next build and deletes what was kept of the previous one', async ({ page }) => {
  allowErrors(/net::ERR_(CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING)/)
  const org = await Org.create()
  await signIn(page, org, '/assets')
  await expect.poll(() => cachedPaths(page)).toContain('/')
  const previous = await page.evaluate(() => caches.keys())
  expect(previous).toHaveLength(1)
  proxy.replace = (path, body) => {
    if (path === '/sw.js') return body.replace(/app-\w+/, 'app-next')
    return body.replace('content="Lastseen knows', 'content="The next build knows')
  }
  const description = page.locator('meta[name=description]')
  await page.reload()
  await expect(description).toHaveAttribute('content', /^The next build/)
  await expect.poll(() => page.evaluate(() => caches.keys())).toEqual(['app-next'])
  await expect.poll(() => cachedPaths(page)).toContain('/')
  await proxy.stop()
  await page.reload()
  await expect(description).toHaveAttribute('content', /^The next build/)
  await expect(page.getByRole('button', { name: 'Account menu' })).toBeVisible()
})

test('An error that the server sends is shown, and a build without a service worker removes it', async ({ page }) => {
  allowErrors(/status of 503/, /status of 404.*sw\.js/)
  const org = await Org.create()
  await signIn(page, org, '/assets')
  await expect.poll(() => cachedPaths(page)).toContain('/')
  proxy.replace = (path, body) => (path === '/assets' ? 503 : body)
  expect((await page.reload())!.status()).toBe(503)
  // The later build has no service worker, and its pages do not register one.
  proxy.replace = (path, body) => (path === '/sw.js' ? 404 : body)
  await page.addInitScript(() => {
    navigator.serviceWorker.register = () => Promise.reject(new Error('not registered'))
  })
  await page.goto(`${proxy.url}/sign-in`)
  await expect.poll(() => page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)).toBe(0)
  await expect.poll(() => page.evaluate(() => caches.keys())).toEqual([])
})
