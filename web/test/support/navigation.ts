/** Navigation that differs on a phone, where the main menu is behind a button and there is no Ctrl key. */
import { type Locator, type Page, expect } from '@playwright/test'

const burger = (page: Page): Locator => page.getByRole('button', { name: 'Menu', exact: true })

/** Opens the main menu if it is hidden, runs the action, and closes the menu again. */
export async function inMainMenu(page: Page, act: (menu: Locator) => Promise<void>): Promise<void> {
  const menu = page.locator('.app-nav')
  await expect(page.getByRole('button', { name: 'Account menu' })).toBeVisible()
  if (!(await menu.isVisible())) await burger(page).click()
  await expect(menu).toBeInViewport()
  await act(menu)
  const close = page.getByRole('button', { name: 'Close the menu' })
  // The menu closes by itself after navigation, possibly at this moment.
  if (await close.isVisible()) await close.click({ timeout: 3000 }).catch(() => undefined)
}

/** Opens a page from the main menu; on a phone, the menu closes after that. */
export async function goToPage(page: Page, name: string): Promise<void> {
  await expect(page.getByRole('button', { name: 'Account menu' })).toBeVisible()
  const link = page.locator('.app-nav').getByRole('link', { name, exact: true })
  if (!(await link.isVisible())) await burger(page).click()
  await link.click()
  if (await burger(page).isVisible()) await expect(link).toBeHidden()
}

export async function openSearch(page: Page): Promise<Locator> {
  if (await burger(page).isVisible()) await page.getByRole('button', { name: 'Search everything' }).click()
  else await page.keyboard.press('Control+k')
  return page.getByPlaceholder('Search by name, key or tag')
}
