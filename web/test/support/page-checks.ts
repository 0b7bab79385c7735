import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { type Page, expect } from '@playwright/test'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResult {
  violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[]
}

type AxeRun = (context: string, options: object) => Promise<AxeResult>

/**
 * Expects no axe violation of WCAG 2.2 A or AA in the page, or in one element of it: keyboard, screen reader, contrast and
 * target size. In the dark theme only the contrast is checked, because nothing else depends on the theme.
 */
export async function expectAccessible(page: Page, within = 'html'): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource)
  const { violations } = await page.evaluate((element) => {
    const isDark = document.documentElement.dataset['mantineColorScheme'] === 'dark'
    // WCAG 2.2 adds the target size, which matters for touch.
    const touch = matchMedia('(pointer: coarse)').matches ? ['wcag22aa'] : []
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', ...touch]
    return (globalThis as unknown as { axe: { run: AxeRun } }).axe.run(element, {
      resultTypes: ['violations'],
      // The report needs neither selectors nor style sheets, which take time to collect.
      selectors: false,
      preload: false,
      runOnly: isDark ? { type: 'rule', values: ['color-contrast'] } : { type: 'tag', values: tags },
    })
  }, within)
  const found = violations.map(
    (one) => `${one.id}: ${one.nodes.map((node) => `${node.html}\n${node.failureSummary}`).join('\n')}`,
  )
  expect.soft(found, `${page.url()} ${within}`).toEqual([])
}

/** Shows the open page in another theme, with the final colors. */
export async function showTheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme)
  await page.evaluate(() => {
    for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish()
  })
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

/**
 * Waits until the page has loaded its data. Runs in the page, at each frame: assertions would ask three times, up to a second
 * apart.
 */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const heading = document.querySelector('h1')
    const loading = '[role=status][aria-label=Loading], .mantine-Skeleton-root'
    return heading !== null && heading.checkVisibility() && document.querySelector(loading) === null
  })
}
