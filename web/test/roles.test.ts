import type { Page } from '@playwright/test'
import { type Role, url, warehouse } from './support/org.ts'
import { expect, test } from './support/test.ts'
import { settled } from './support/page-checks.ts'

type World = Awaited<ReturnType<typeof warehouse>>
let world: World
const people = new Map<Role, string>()

test.beforeAll(async () => {
  world = await warehouse('Roles')
  for (const role of ['viewer', 'operator', 'manager'] as const) people.set(role, await world.org.member(role))
  people.set('admin', world.org.email)
})

const has = async (page: Page, path: string, control: [kind: 'button' | 'link', name: string]): Promise<boolean> => {
  if (page.url() !== url() + path) {
    await page.goto(url() + path)
    await settled(page)
  }
  return (await page.getByRole(control[0], { name: control[1], exact: true }).count()) > 0
}

/** Control, page, and the least role that is shown it. */
const controls: [Role, (world: World) => string, ['button' | 'link', string]][] = [
  ['manager', () => '/assets', ['button', 'New asset']],
  ['manager', ({ assets }) => `/assets/${assets[0]!.id}`, ['button', 'Edit']],
  ['manager', ({ assets }) => `/assets/${assets[0]!.id}`, ['button', 'Attach']],
  ['manager', () => '/locations', ['button', 'New location']],
  ['operator', ({ hall }) => `/locations/${hall.id}`, ['link', 'Scan here']],
  ['manager', () => '/readers', ['button', 'New reader']],
  ['manager', () => '/import', ['button', 'Choose a CSV file']],
  ['operator', () => '/scan', ['button', 'Save']],
  ['admin', () => '/settings/api-keys', ['button', 'New Key']],
  ['admin', () => '/settings/members', ['button', 'Invite']],
]

const order: Role[] = ['viewer', 'operator', 'manager', 'admin']

for (const role of order)
  test(`Role ${role} is shown the controls of the role and no others`, async ({ page }) => {
    await world.org.signIn(page, people.get(role)!)
    await settled(page)
    for (const [least, path, control] of controls)
      expect(await has(page, path(world), control), `${control[1]} for ${role}`).toBe(
        order.indexOf(role) >= order.indexOf(least),
      )
    await page.getByRole('button', { name: 'Account menu' }).click()
    await expect(page.getByRole('menuitem', { name: 'Account' })).toBeVisible()
    await expect(page.getByRole('menuitem', { name: 'Webhooks' })).toHaveCount(role === 'admin' ? 1 : 0)
  })

test('A page that a role may not use says why', async ({ page }) => {
  await world.org.signIn(page, people.get('viewer')!, '/settings/webhooks')
  await expect(page.getByText('Only admins can do this')).toBeVisible()
  await page.goto(`${url()}/scan`)
  await expect(page.getByText('Your role looks, but does not save')).toBeVisible()
})
