/* global document, window */
/** The web app in a real browser over an organization of a hundred thousand assets while things move. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openPage, startBrowser, whileDoing, withoutCache } from './browser.mjs'
import { makeDatabase } from './database.mjs'
import { median, whole } from './figures.mjs'
import { startService } from './processes.mjs'

const assets = 100_000
const movesPerSecond = 50
const loads = 7
const watchMs = 15_000
const bars = { firstPageMs: 1500, firstLoadKb: 350, inputMs: 200, taskMs: 200 }

const tagOf = (index) => `E2${String(index).padStart(22, '0')}`
const password = 'correct horse battery'

/** The session API as the web app uses it. */
function caller(base) {
  let token = null
  const call = async (method, path, body) => {
    const headers = { 'Content-Type': 'application/json', 'User-Agent': 'lastseen-bench' }
    if (token !== null) headers.Authorization = `Bearer ${token}`
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await fetch(base + path, init)
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
    return response.status === 204 ? undefined : (await response.json()).data
  }
  return { call, use: (given) => (token = given) }
}

async function signUp(base, api) {
  const email = 'bench@example.com'
  await api.call('POST', '/api/v1/auth/signup', { email, password, organization_name: 'Benchmark' })
  const { expires_in: seconds, ...given } = await api.call('POST', '/api/v1/auth/login', { email, password })
  api.use(given.access_token)
  return { ...given, good_until: Date.now() + seconds * 1000 }
}

function csv() {
  const lines = ['external_key,name,description,rfid']
  for (let index = 0; index < assets; index++)
    lines.push(
      `THING-${String(index).padStart(6, '0')},Thing ${index},"Box ${index % 977}, shelf ${index % 31}",${tagOf(index)}`,
    )
  return lines.join('\r\n')
}

/** A hundred thousand lines through the page: looked at, checked, imported. */
async function importAll(page, base, folder) {
  const file = join(folder, 'things.csv')
  writeFileSync(file, csv())
  await page.goto(`${base}/import`)
  await page.waitForSelector('input[type=file]', { state: 'attached' })
  const began = performance.now()
  const shown = new Set()
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      const value = await page.evaluate(() =>
        document.querySelector('[role=progressbar]')?.getAttribute('aria-valuenow'),
      )
      if (value !== undefined && value !== null) shown.add(value)
      await sleep(100)
    }
  })()
  const blocked = await whileDoing(page, async () => {
    await page.locator('input[type=file]').setInputFiles(file)
    await page.getByRole('button', { name: /^Check / }).click({ timeout: 60_000 })
    await page.getByRole('button', { name: `Import ${whole(assets)} lines` }).click({ timeout: 180_000 })
    await page.getByText('Done.').waitFor({ timeout: 240_000 })
  })
  isOver = true
  await watching
  return { seconds: (performance.now() - began) / 1000, steps: shown.size, ...blocked }
}

/** Fifty moves a second through the ordinary way in, until told to stop. */
async function startMoving(base, api) {
  const places = []
  for (const name of ['Hall A', 'Hall B', 'Dock 1', 'Dock 2'])
    places.push(await api.call('POST', '/api/v1/locations', { name }))
  const scan_points = places.map((place, index) => ({ antenna: index + 1, location_id: place.id }))
  const { token } = await api.call('POST', '/api/v1/readers', { name: 'Gate', scan_points })
  const send = async (reads) => {
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'lastseen-bench',
      Authorization: `Bearer ${token}`,
    }
    const response = await fetch(`${base}/ingest/v1/reads`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ reads }),
    })
    if (response.status !== 202) throw new Error(`reads answered ${response.status}`)
  }
  const observed_at = new Date(Date.now() - 180_000).toISOString()
  for (let start = 0; start < assets; start += 5000)
    await send(Array.from({ length: 5000 }, (_, at) => ({ tag: tagOf(start + at), antenna: 1, observed_at })))
  let next = 0
  let isOver = false
  let failure = null
  const run = (async () => {
    const began = performance.now()
    for (let tick = 1; !isOver; tick++) {
      const reads = Array.from({ length: movesPerSecond / 5 }, () => ({
        tag: tagOf(next++ % assets),
        antenna: 2 + (next % 3),
      }))
      await send(reads)
      await sleep(Math.max(0, began + tick * 200 - performance.now()))
    }
  })().catch((error) => (failure = error))
  return {
    async stop() {
      isOver = true
      await run
      if (failure !== null) throw failure
    },
  }
}

async function firstPages(page, base) {
  const times = []
  let bytes = 0
  page.on('response', (response) => {
    if (new URL(response.url()).pathname.startsWith('/static/')) bytes += Number(response.headers()['content-length'])
  })
  for (let round = 0; round < loads; round++) {
    bytes = 0
    await page.goto(`${base}/assets`)
    times.push(await page.waitForFunction(() => window.seen.firstRowMs).then((handle) => handle.jsonValue()))
  }
  return { medianMs: median(times), worstMs: Math.max(...times), firstLoadKb: bytes / 1000 }
}

async function typing(page, base) {
  await page.goto(`${base}/assets`)
  const field = page.getByRole('textbox', { name: 'Search assets' })
  await field.waitFor()
  await sleep(1000)
  return whileDoing(page, async () => {
    for (const text of ['thing 4711', 'shelf 12', 'E2000000000000000000098765', 'box 9', 'THING-0001']) {
      await field.pressSequentially(text, { delay: 60 })
      await sleep(600)
      await field.fill('')
    }
  })
}

async function watching(page, base) {
  await page.goto(base)
  await page.locator('[data-live=live]').waitFor()
  await page.locator('.move-row').nth(20).waitFor()
  return whileDoing(page, () => sleep(watchMs))
}

async function measureWeb(started, postgres, { say }) {
  const url = await makeDatabase(postgres.url, 'bench_web')
  const service = await started.add(startService({ url, folder: postgres.folder, name: 'bench_web' }))
  const base = `http://127.0.0.1:${service.port}`
  const browser = await started.add(startBrowser())
  const api = caller(base)
  const session = await signUp(base, api)
  const page = await openPage(browser, base, session)
  const imported = await importAll(page, base, postgres.folder)
  say(`${whole(assets)} assets were imported in ${imported.seconds.toFixed(1)} s`)
  await started.add(startMoving(base, api))
  const typed = await typing(page, base)
  say(`typing: longest answer to a key ${whole(typed.longestInputMs)} ms`)
  const watched = await watching(page, base)
  say(`${movesPerSecond} moves a second: longest task ${whole(watched.longestTaskMs)} ms`)
  await withoutCache(page)
  const opened = await firstPages(page, base)
  say(`first page of assets: ${whole(opened.medianMs)} ms`)
  return { imported, typed, watched, opened, browser: browser.version }
}

const linesOf = ({ imported, typed, watched, opened }) => [
  ['first page of the asset table painted, nothing kept from before: median ms', opened.medianMs, bars.firstPageMs],
  ['the slowest of them, ms', opened.worstMs, bars.firstPageMs],
  ['first load of the app, compressed, kB', opened.firstLoadKb, bars.firstLoadKb],
  ['typing in the search: longest time from a key to the next picture, ms', typed.longestInputMs, bars.inputMs],
  ['typing in the search: longest task, ms', typed.longestTaskMs, bars.taskMs],
  ['overview with 50 moves a second: longest task, ms', watched.longestTaskMs, bars.taskMs],
  ['overview with 50 moves a second: longest gap between pictures, ms', watched.longestGapMs, null],
  ['import of 100,000 lines, from the file to done: s', imported.seconds, null],
  ['steps of the progress bar that were seen', imported.steps, null],
  ['import: longest task in the page, ms', imported.longestTaskMs, bars.taskMs],
]

function renderWeb(result) {
  const row = ([title, value, bar]) =>
    `| ${title} | ${whole(value)}${bar !== null && value > bar ? ' ✗' : ''} | ${bar === null ? '–' : whole(bar)} |`
  return [
    `| web app, ${whole(assets)} assets, ${movesPerSecond} moves a second, Chromium ${result.browser} | measured | bar |`,
    '|---|--:|--:|',
    ...linesOf(result).map(row),
  ].join('\n')
}

const webMisses = (result) =>
  linesOf(result).flatMap(([title, value, bar]) => (bar !== null && value > bar ? [title] : []))

export const web = {
  name: 'web',
  title: 'The web app',
  /** It needs a browser, so it is measured when it is asked for. */
  isExtra: true,
  pace: { full: { minutes: 10 }, quick: { minutes: 10 } },
  measure: measureWeb,
  render: renderWeb,
  misses: webMisses,
}
