import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { type Page, expect } from '@playwright/test'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Collects the script errors and security policy violations of a page. */
export function collectErrors(page: Page): string[] {
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(`error: ${error.message}`))
  page.on('console', (message) => {
    const text = message.text()
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) errors.push(text)
    if (/Content Security Policy/i.test(text)) errors.push(text)
  })
  return errors
}

interface AxeResult {
  violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[]
}

/** Expects no axe violation of WCAG 2.2 A or AA: keyboard, screen reader, contrast and target size. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axeSource)
  const { violations } = await page.evaluate(
    () =>
      (globalThis as unknown as { axe: { run: (options: object) => Promise<AxeResult> } }).axe.run({
        resultTypes: ['violations'],
        // The report needs neither selectors nor style sheets, which take time to collect.
        selectors: false,
        preload: false,
        // WCAG 2.2 adds the target size, which matters for touch.
        runOnly: [
          'wcag2a',
          'wcag2aa',
          'wcag21a',
          'wcag21aa',
          ...(matchMedia('(pointer: coarse)').matches ? ['wcag22aa'] : []),
        ],
      }) as Promise<AxeResult>,
  )
  const found = violations.map(
    (one) => `${one.id}: ${one.nodes.map((node) => `${node.html}\n${node.failureSummary}`).join('\n')}`,
  )
  expect.soft(found).toEqual([])
}

/** The page, tables and dialogs that scroll horizontally. Runs in the page. */
export function tooWide(): string[] {
  const inner = document.querySelectorAll('.table-wrap, .mantine-Modal-content, .mantine-Modal-body')
  return [document.documentElement, ...inner]
    .filter((one) => one.scrollWidth > one.clientWidth + 1)
    .map(
      (one) =>
        `${location.pathname}: ${one.className || 'page'} is ${one.scrollWidth} px wide instead of ${one.clientWidth}`,
    )
}

/** Waits until the page has loaded its data. */
export async function settled(page: Page): Promise<void> {
  await expect(page.locator('h1').first()).toBeVisible()
  await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0)
  await expect(page.locator('.mantine-Skeleton-root')).toHaveCount(0)
}
