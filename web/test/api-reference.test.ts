import type { Page } from '@playwright/test'
import { Org, url } from './support/org.ts'
import { expect, test } from './support/test.ts'

/** Collects the requests of a page to other hosts. */
function foreignRequests(page: Page): string[] {
  const seen: string[] = []
  page.on('request', (request) => {
    const address = new URL(request.url())
    if (/^https?:$/.test(address.protocol) && address.origin !== url()) seen.push(request.url())
  })
  return seen
}

for (const base of ['', '/natural'])
  test(`The API reference at ${base}/api/docs sends a request with a token and uses no other host`, async ({
    page,
  }) => {
    const org = await Org.create()
    await org.asset('Crate one', { external_key: 'CRATE-1' })
    const foreign = foreignRequests(page)
    await page.goto(`${url()}${base}/api/docs`)
    await expect(page.getByRole('heading', { name: 'API', exact: true, level: 1 })).toBeVisible()
    await page.getByPlaceholder('Token').first().fill(org.token)
    await page.goto(`${url()}${base}/api/docs#tag/assets/GET/api/v1/assets`)
    await page.getByRole('button', { name: /^Test Request.*get \/api\/v1\/assets\)$/i }).click()
    const [answer] = await Promise.all([
      page.waitForResponse((response) => new URL(response.url()).pathname === `${base}/api/v1/assets`),
      page.getByRole('button', { name: /^Send get request/i }).click(),
    ])
    expect(answer.status()).toBe(200)
    await expect(page.getByRole('dialog')).toContainText('CRATE-1')
    expect(foreign).toEqual([])
  })
