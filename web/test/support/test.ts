import { type BrowserContext, type Page, test as base } from '@playwright/test'
import { tooWide } from './page-checks.ts'

export { expect } from '@playwright/test'

/** Runs in a page on a phone: checks after every DOM change, and reports elements that are still too wide after 250 ms. */
function observeWidth(findTooWide: () => string[]): void {
  if (screen.width > 600) return
  const report = (globalThis as unknown as { tooWide: (message: string) => void }).tooWide
  let isScheduled = false
  const checkTwice = (): void => {
    const before = new Set(findTooWide())
    if (before.size === 0) isScheduled = false
    else
      setTimeout(() => {
        isScheduled = false
        for (const message of findTooWide()) if (before.has(message)) report(message)
      }, 250)
  }
  const scheduleCheck = (): void => {
    if (isScheduled) return
    isScheduled = true
    setTimeout(checkTwice, 150)
  }
  new MutationObserver(scheduleCheck).observe(document, { subtree: true, childList: true, attributes: true })
}

/** Collects everything that was too wide at any time during a test. */
async function watchWidth(context: BrowserContext): Promise<Set<string>> {
  const seen = new Set<string>()
  await context.exposeBinding('tooWide', (_source, message: string) => void seen.add(message))
  await context.addInitScript(`(${String(observeWidth)})(${String(tooWide)})`)
  return seen
}

async function expectNoOverflow(context: BrowserContext, seen: Set<string>): Promise<void> {
  for (const page of context.pages().filter((one) => /^http/.test(one.url())))
    for (const message of await page.evaluate(tooWide).catch(() => [])) seen.add(message)
  base.expect([...seen], 'nothing is wider than the screen').toEqual([])
}

/** What the browsers of the running test reported, and what of it the test causes on purpose. */
let errors: string[] = []
let allowed: RegExp[] = []

/** Lets the running test cause errors in the browser, such as failed requests while the server is away. */
export function allowErrors(...patterns: RegExp[]): void {
  allowed.push(...patterns)
}

/** Collects uncaught exceptions, errors on the console, and violations of the security policy. */
function watchErrors(context: BrowserContext): void {
  context.on('weberror', (one) => errors.push(one.error().stack ?? one.error().message))
  context.on('console', (message) => {
    const [text, { url }] = [message.text(), message.location()]
    // The browser logs every request that the API rejects. The app shows the reason, and tests expect it there.
    const isRejection = /^Failed to load resource: .* status of 4\d\d/.test(text) && /\/(api|ingest)\//.test(url)
    const isError = message.type() === 'error' || /Content Security Policy/i.test(text)
    if (isError && !isRejection) errors.push(`${text} (${url})`)
  })
}

/**
 * A test whose pages report no error and do not scroll horizontally: on a phone at any time, on the desk at the end of the
 * test.
 */
export const test = base.extend<{ anotherBrowser: () => Promise<Page> }>({
  /** When a test fails, its output has the contents of the page and the errors that the browser reported. */
  page: async ({ page }, use, info) => {
    await use(page)
    if (info.status === info.expectedStatus || page.isClosed()) return
    const contents = await page.locator('body').ariaSnapshot({ timeout: 10_000 }).catch(String)
    console.log([`"${info.title}" failed at ${page.url()}`, contents, ...errors].join('\n'))
  },
  context: async ({ context }, use) => {
    ;[errors, allowed] = [[], []]
    watchErrors(context)
    const seen = await watchWidth(context)
    await use(context)
    await expectNoOverflow(context, seen)
    const unexpected = errors.filter((error) => !allowed.some((pattern) => pattern.test(error)))
    base.expect(unexpected, 'the browser reports no error').toEqual([])
  },
  /** A page in a separate browser context. */
  anotherBrowser: async ({ browser, context: _first }, use) => {
    const opened: { context: BrowserContext; seen: Set<string> }[] = []
    await use(async () => {
      const context = await browser.newContext()
      watchErrors(context)
      opened.push({ context, seen: await watchWidth(context) })
      return context.newPage()
    })
    for (const { context, seen } of opened) await expectNoOverflow(context, seen)
    for (const { context } of opened) await context.close()
  },
})
