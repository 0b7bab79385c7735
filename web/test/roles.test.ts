import type { Page } from '@playwright/test'
import { type Role, url, warehouse } from './support/org.ts'
import { expect, test } from './support/test.ts'
import { settled } from './support/page-checks.ts'

type Fixture = Awaited<ReturnType<typeof warehouse>>
let fixture: Fixture
const emails = new Map<Role, string>()

test.beforeAll(async () => {
  fixture = await warehouse('Roles')
  for (const role of ['viewer', 'operator', 'manager'] as const) emails.set(role, await fixture.org.member(role))
  emails.set('admin', fixture.org.email)
})

const hasControl = async (
  page: Page,
  path: string,
  control: [kind: 'button' | 'link', name: string],
): Promise<boolean> => {
  if (page.url() !== url() + path) {
    await page.goto(url() + path)
    await settled(page)
  }
  return (await page.getByRole(control[0], { name: control[1], exact: true }).count()) > 0
}

/** Minimum role, page and control. */
const controls: [Role, (fixture: Fixture) => string, ['button' | 'link', string]][] = [
  ['manager', () => '/assets', ['button', 'Create asset']],
  ['manager', ({ assets }) => `/assets/${assets[0]!.id}`, ['button', 'Edit']],
  ['manager', ({ assets }) => `/assets/${assets[0]!.id}`, ['button', 'Attach']],
  ['manager', () => '/locations', ['button', 'Create location']],
  ['operator', ({ hall }) => `/locations/${hall.id}`, ['link', 'Scan here']],
  ['manager', () => '/readers', ['button', 'Create reader']],
  ['manager', () => '/import', ['button', 'Choose a CSV file']],
  ['operator', () => '/scan', ['button', 'Save']],
  ['admin', () => '/settings/api-keys', ['button', 'New key']],
  ['admin', () => '/settings/members', ['button', 'Invite']],
]

const order: Role[] = ['viewer', 'operator', 'manager', 'admin']

for (const role of order)
  test(`Role ${role} is shown the controls of the role and no others`, async ({ page }) => {
    await fixture.org.signIn(page, emails.get(role)!)
    await settled(page)
    for (const [least, path, control] of controls)
      expect(await hasControl(page, path(fixture), control), `${control[1]} for ${role}`).toBe(
        order.indexOf(role) >= order.indexOf(least),
      )
    await page.getByRole('button', { name: 'Account menu' }).click()
    await expect(page.getByRole('menuitem', { name: 'Account' })).toBeVisible()
    await expect(page.getByRole('menuitem', { name: 'Webhooks' })).toHaveCount(role === 'admin' ? 1 : 0)
  })

test('A page that a role may not use shows the reason', async ({ page }) => {
  await fixture.org.signIn(page, emails.get('viewer')!, '/settings/webhooks')
  await expect(page.getByText('Only admins can open this page')).toBeVisible()
  await page.goto(`${url()}/scan`)
  await expect(page.getByText('Your role does not allow scanning')).toBeVisible()
})
