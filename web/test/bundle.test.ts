import { url, warehouse } from './support/org.ts'
import { expect, test } from './support/test.ts'
import { settled } from './support/page-checks.ts'

const pagesOf = ({ assets, hall }: Awaited<ReturnType<typeof warehouse>>) =>
  [
    ['/sign-in', 'Sign in'],
    ['/', 'Overview'],
    ['/assets', 'Assets'],
    [`/assets/${assets[0]!.id}`, 'Crate 1'],
    [`/locations/${hall.id}`, 'Hall A'],
    [`/scan?location=${hall.id}`, 'Scan'],
    ['/labels', 'Labels'],
    ['/import', 'Import & export'],
    ['/reports', 'Reports'],
    ['/reports?tab=flow', 'Reports'],
  ] as const

test('The first load of the app is under 350 kB compressed and uses no other host', async ({ browser }) => {
  const fixture = await warehouse()
  const { org } = fixture
  for (const [path, heading] of pagesOf(fixture)) {
    const context = await browser.newContext({ serviceWorkers: 'block' })
    if (path !== '/sign-in') {
      const before = await context.newPage()
      await org.signIn(before)
      await before.close()
    }
    const page = await context.newPage()
    const sizes = new Map<string, number>()
    const hosts = new Set<string>()
    page.on('response', (response) => {
      const resource = new URL(response.url())
      if (resource.protocol !== 'data:') hosts.add(resource.origin)
      if (!resource.pathname.startsWith('/static/')) return
      const { 'content-encoding': coding, 'content-length': length } = response.headers()
      sizes.set(resource.pathname, Number(length))
      if (Number(length) > 1024) expect(coding).toBe('br')
    })
    const session = await context.newCDPSession(page)
    await session.send('Network.setCacheDisabled', { cacheDisabled: true })
    await page.goto(url() + path)
    await expect(page.getByRole('heading', { level: 1, name: heading })).toBeVisible()
    await settled(page)
    await page.waitForLoadState('load')
    const total = [...sizes.values()].reduce((sum, one) => sum + one, 0)
    test.info().annotations.push({ type: path, description: `${Math.round(total / 1000)} kB` })
    if (process.env['SHOW'])
      console.log(path, total, JSON.stringify([...sizes].sort((a, b) => b[1] - a[1]).slice(0, 12)))
    expect.soft(total, path).toBeGreaterThan(50_000)
    expect.soft(total, path).toBeLessThan(350_000)
    expect.soft([...hosts], path).toEqual([url()])
    await context.close()
  }
})
