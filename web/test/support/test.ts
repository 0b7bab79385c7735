import { type BrowserContext, type Page, test as base } from '@playwright/test'
import { tooWide } from './page-checks.ts'

export { expect } from '@playwright/test'

/** Runs in a page on a phone: looks whenever something has changed, and says what is still too wide a moment later. */
function keepLooking(look: () => string[]): void {
  if (screen.width > 600) return
  const tell = (globalThis as unknown as { tooWide: (words: string) => void }).tooWide
  let isDue = false
  const twice = (): void => {
    const before = new Set(look())
    if (before.size === 0) isDue = false
    else
      setTimeout(() => {
        isDue = false
        for (const words of look()) if (before.has(words)) notify(words)
      }, 250)
  }
  const soon = (): void => {
    if (isDue) return
    isDue = true
    setTimeout(twice, 150)
  }
  new MutationObserver(soon).observe(document, { subtree: true, childList: true, attributes: true })
}

/** Everything that was too wide at any moment of a flow, each once. */
async function watchWidth(context: BrowserContext): Promise<Set<string>> {
  const seen = new Set<string>()
  await context.exposeBinding('tooWide', (_source, words: string) => void seen.add(words))
  await context.addInitScript(`(${String(keepLooking)})(${String(tooWide)})`)
  return seen
}

async function expectNarrow(context: BrowserContext, seen: Set<string>): Promise<void> {
  for (const page of context.pages().filter((one) => /^http/.test(one.url())))
    for (const words of await page.evaluate(tooWide).catch(() => [])) seen.add(words)
  base.expect([...seen], 'nothing is wider than the screen').toEqual([])
}

/** A test whose pages never scroll sideways: on a phone at any moment, at the desk when the flow is over. */
export const test = base.extend<{ anotherBrowser: () => Promise<Page> }>({
  context: async ({ context }, use) => {
    const seen = await watchWidth(context)
    await use(context)
    await expectNarrow(context, seen)
  },
  /** A page of somebody else, who shares nothing with the first. */
  anotherBrowser: async ({ browser }, use) => {
    const opened: { context: BrowserContext; seen: Set<string> }[] = []
    await use(async () => {
      const context = await browser.newContext()
      opened.push({ context, seen: await watchWidth(context) })
      return context.newPage()
    })
    for (const { context, seen } of opened) await expectNarrow(context, seen)
    for (const { context } of opened) await context.close()
  },
})
