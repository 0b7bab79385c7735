import { url, warehouse } from './support/org.ts'
import { expect, test } from './support/test.ts'

test('The first load of the app is under 350 kB compressed and uses no other host', async ({ context }) => {
  const { org } = await warehouse()
  await org.signIn(await context.newPage())
  const page = await context.newPage()
  const sizes = new Map<string, number>()
  const hosts = new Set<string>()
  page.on('response', async (response) => {
    const resource = new URL(response.url())
    if (resource.protocol !== 'data:') hosts.add(resource.origin)
    if (resource.pathname.startsWith('/static/')) {
      const { 'content-encoding': coding, 'content-length': length } = response.headers()
      sizes.set(resource.pathname, Number(length))
      if (Number(length) > 1024) expect(coding).toBe('br')
    }
  })
  await page
    .context()
    .newCDPSession(page)
    .then((session) => session.send('Network.setCacheDisabled', { cacheDisabled: true }))
  await page.goto(`${url()}/assets`)
  await expect(page.getByRole('table', { name: 'Assets' })).toContainText('Crate 1')
  const total = [...sizes.values()].reduce((sum, one) => sum + one, 0)
  test.info().annotations.push({ type: 'first load', description: `${Math.round(total / 1000)} kB` })
  expect(total).toBeGreaterThan(50_000)
  expect(total).toBeLessThan(350_000)
  expect([...hosts]).toEqual([url()])
})
