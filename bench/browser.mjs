/* global window, document, localStorage, PerformanceObserver, MutationObserver, requestAnimationFrame */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'

const debian = '/usr/bin/chromium'

/** Real Chromium: Debian's where it is installed, elsewhere the one Playwright downloads. */
export async function startBrowser() {
  let chromium
  try {
    ;({ chromium } = createRequire(new URL('../web/package.json', import.meta.url))('@playwright/test'))
  } catch {
    throw new Error('Measuring the web app needs the packages for development: npm ci')
  }
  const args = ['--disable-gpu', '--no-first-run', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])]
  const browser = await chromium.launch({ args, ...(existsSync(debian) ? { executablePath: debian } : {}) })
  return { browser, version: browser.version(), stop: () => browser.close() }
}

/** Runs in the page before the app does: notes what blocks it, and when the first row of assets was painted. */
function observe() {
  const seen = { tasks: [], gaps: [], inputs: [], firstRowMs: null }
  window.seen = seen
  new PerformanceObserver((list) => seen.tasks.push(...list.getEntries().map((one) => one.duration))).observe({
    type: 'longtask',
    buffered: true,
  })
  new PerformanceObserver((list) => seen.inputs.push(...list.getEntries().map((one) => one.duration))).observe({
    type: 'event',
    durationThreshold: 16,
    buffered: true,
  })
  let last = performance.now()
  const frame = (now) => {
    seen.gaps.push(now - last)
    last = now
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
  const look = new MutationObserver(() => {
    if (document.querySelector('table[aria-label=Assets] tbody a') === null) return
    look.disconnect()
    requestAnimationFrame(() => setTimeout(() => (seen.firstRowMs = performance.now())))
  })
  look.observe(document, { childList: true, subtree: true })
}

/** A page with a session in it, as after signing in. */
export async function openPage({ browser }, base, session) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' })
  const page = await context.newPage()
  await page.goto(`${base}/mark.svg`)
  await page.evaluate((text) => localStorage.setItem('lastseen.session', text), JSON.stringify(session))
  await page.addInitScript(observe)
  return page
}

/** Without what the browser kept from before, as somebody opens the app for the first time. */
export async function withoutCache(page) {
  const client = await page.context().newCDPSession(page)
  await client.send('Network.setCacheDisabled', { cacheDisabled: true })
}

const most = (values) => Math.max(0, ...values)

/** What blocked the page while something was done. */
export async function whileDoing(page, work) {
  await page.evaluate(() => Object.assign(window.seen, { tasks: [], gaps: [], inputs: [] }))
  await work()
  const { tasks, gaps, inputs } = await page.evaluate(() => window.seen)
  return { longestTaskMs: most(tasks), longestGapMs: most(gaps), longestInputMs: most(inputs) }
}
