/* global Image, document, localStorage */
/**
 * Takes the screenshots in docs/images: every page of the web app with the demo data of a simulated warehouse, or the pages
 * that the arguments name (`node scripts/screenshots.mjs overview phone-overview`). With KEEP_PNG set to a folder, PNG files
 * are written there too, without arguments also of every page in phone size and in dark mode.
 */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildWorkspaces, installPackages, root } from './bootstrap.mjs'

installPackages({ dev: true })
buildWorkspaces()
const { chromium } = createRequire(join(root, 'web/package.json'))('@playwright/test')

const images = join(root, 'docs/images')
const wanted = process.argv.slice(2)
const port = process.env.PORT ?? '8399'
const base = `http://127.0.0.1:${port}`
const data = mkdtempSync(join(tmpdir(), 'lastseen-screenshots-'))
chmodSync(data, 0o755)

const server = spawn(process.execPath, [join(root, 'server/bin/lastseen.mjs'), 'serve', '--demo'], {
  env: { ...process.env, PORT: port, LASTSEEN_DATA_DIR: data, LASTSEEN_MQTT_PORT: '0', LASTSEEN_LOG_LEVEL: 'warn' },
  stdio: ['ignore', 'ignore', 'pipe'],
})
let output = ''
server.stderr.setEncoding('utf8').on('data', (text) => (output += text))
const waitForOutput = async (pattern) => {
  while (!pattern.test(output)) {
    if (server.exitCode !== null) throw new Error(output)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return pattern.exec(output)
}

async function send(token, method, path, body) {
  const headers = { 'Content-Type': 'application/json', 'User-Agent': 'screenshots' }
  if (token !== null) headers.Authorization = `Bearer ${token}`
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  const response = await fetch(base + path, init)
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  return text === '' ? undefined : JSON.parse(text).data
}
const call = (token, method, path, body) => send(token, method, `/api/v1${path}`, body)

/** Adds what the simulated warehouse does not have: overdue assets, unassigned tags and a silent reader. */
async function addProblems(token, locationId) {
  const createReader = (name) =>
    call(token, 'POST', '/readers', { name, scan_points: [{ antenna: 1, location_id: locationId }] })
  const gate = await createReader('Yard gate')
  await createReader('Workshop door')
  const reads = []
  for (const name of ['Scissor lift 0301', 'Trolley 0302']) {
    const value = `E280116000000000000000${name.slice(-2)}`
    await call(token, 'POST', '/assets', { name, tags: [{ tag_type: 'rfid', value }] })
    reads.push({ tag: value, antenna: 1, observed_at: new Date(Date.now() - 40 * 3_600_000).toISOString() })
  }
  for (const end of ['A1', 'A2', 'A3']) reads.push({ tag: `E2801160FFFFFFFFFFFFFF${end}`, antenna: 1 })
  await send(gate.token, 'POST', '/ingest/v1/reads', { reads })
}

/** Chromium encodes WebP, a third of the size of PNG. Playwright itself cannot write WebP. */
async function toWebp(page, png) {
  const text = await page.evaluate(async (source) => {
    const image = new Image()
    image.src = `data:image/png;base64,${source}`
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = image.width
    canvas.height = image.height
    canvas.getContext('2d').drawImage(image, 0, 0)
    return canvas.toDataURL('image/webp', 0.72)
  }, png.toString('base64'))
  return Buffer.from(text.slice(text.indexOf(',') + 1), 'base64')
}

async function takeScreenshots(browser, session, shots, { isForReview = false, ...options }) {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options })
  const [page, blank] = [await context.newPage(), await context.newPage()]
  await page.goto(`${base}/mark.svg`)
  if (session !== null)
    await page.evaluate((text) => localStorage.setItem('lastseen.session', text), JSON.stringify(session))
  for (const { name, path, prepare } of shots.filter((shot) => wanted.length === 0 || wanted.includes(shot.name))) {
    await page.goto(base + path)
    await page.waitForSelector('h1')
    const loaded = () => document.querySelector('.mantine-Skeleton-root, [aria-label=Loading]') === null
    await page.waitForFunction(loaded)
    await prepare?.(page)
    await page.waitForTimeout(900)
    await page.waitForFunction(loaded)
    const png = await page.screenshot(isForReview ? { fullPage: true } : {})
    if (!isForReview) writeFileSync(join(images, `${name}.webp`), await toWebp(blank, png))
    if (process.env.KEEP_PNG !== undefined) writeFileSync(join(process.env.KEEP_PNG, `${name}.png`), png)
  }
  await context.close()
}

try {
  const [, email] = await waitForOutput(/Sign in with +(\S+)/)
  const [, password] = await waitForOutput(/Password +(\S+)/)
  await waitForOutput(/Continuing live/)
  const signIn = () => call(null, 'POST', '/auth/login', { email, password })
  const { access_token: token, user } = await signIn()
  const [asset] = await call(token, 'GET', '/assets?limit=1&q=Forklift')
  const [rack] = await call(token, 'GET', '/locations?q=Rack A2')
  const [reader] = await call(token, 'GET', '/readers?limit=1')
  await addProblems(token, rack.id)
  await call(token, 'POST', `/orgs/${user.org.id}/api-keys`, {
    name: 'ERP sync',
    scopes: ['assets:read', 'assets:write', 'tracking:read'],
  })
  await call(token, 'POST', '/invitations', { email: 'operator@example.com', role: 'operator' })
  const assetsInRack = await call(token, 'GET', `/reports/asset-locations?location_id=${rack.id}&limit=200`)
  const others = await call(token, 'GET', '/assets?limit=2&q=Ladder')
  const scan = async (page) => {
    const codes = [
      ...assetsInRack.slice(2).map((row) => row.asset_external_key),
      ...others.map((row) => row.external_key),
      '4006381333931',
    ]
    await page.getByRole('textbox', { name: 'Code' }).fill(codes.join(','))
    await page.keyboard.press('Enter')
    await page.waitForTimeout(800)
  }
  const desktop = [
    { name: 'overview', path: '/' },
    { name: 'assets', path: '/assets' },
    { name: 'asset', path: `/assets/${asset.id}` },
    { name: 'locations', path: '/locations' },
    { name: 'location', path: `/locations/${rack.id}` },
    { name: 'readers', path: '/readers' },
    {
      name: 'reader',
      path: `/readers/${reader.id}`,
      prepare: (page) => page.waitForSelector('table[aria-label="Live reads"]'),
    },
    { name: 'inbox', path: '/readers/inbox' },
    { name: 'reports', path: '/reports' },
    { name: 'reports-dwell', path: '/reports?tab=dwell' },
    { name: 'reports-flow', path: '/reports?tab=flow' },
    { name: 'labels', path: '/labels' },
    { name: 'import', path: '/import' },
    { name: 'api-keys', path: '/settings/api-keys' },
    { name: 'webhooks', path: '/settings/webhooks' },
    { name: 'members', path: '/settings/members' },
    { name: 'account', path: '/settings/account' },
  ]
  const phone = [
    { name: 'phone-scan', path: `/scan?location=${rack.id}`, prepare: scan },
    { name: 'phone-overview', path: '/' },
    { name: 'phone-asset', path: `/assets/${asset.id}` },
  ]
  mkdirSync(images, { recursive: true })
  // Debian's browser if it is installed, otherwise the one that Playwright downloads, as in web/test/support/browser.ts.
  const executablePath = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path))
  const args = ['--disable-gpu', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])]
  const browser = await chromium.launch({ args, ...(executablePath === undefined ? {} : { executablePath }) })
  const session = async () => {
    const { refresh_token: refresh, user: person } = await signIn()
    return { refresh_token: refresh, user: person }
  }
  const wide = { viewport: { width: 1280, height: 800 } }
  await takeScreenshots(browser, null, [{ name: 'sign-in', path: '/sign-in' }], wide)
  await takeScreenshots(browser, await session(), desktop, wide)
  await takeScreenshots(browser, await session(), [{ name: 'overview-dark', path: '/' }], {
    ...wide,
    colorScheme: 'dark',
  })
  await takeScreenshots(browser, await session(), phone, {
    viewport: { width: 360, height: 740 },
    isMobile: true,
    hasTouch: true,
  })
  if (process.env.KEEP_PNG !== undefined) {
    const allPages = (mode) => desktop.map((shot) => ({ ...shot, name: `${shot.name}-on-${mode}` }))
    const small = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }
    await takeScreenshots(browser, await session(), allPages('phone'), { ...small, isForReview: true })
    await takeScreenshots(browser, await session(), allPages('dark'), {
      ...wide,
      colorScheme: 'dark',
      isForReview: true,
    })
  }
  await browser.close()
} finally {
  // A server that has ended by itself sends no further event.
  if (server.exitCode === null && server.signalCode === null) {
    const exited = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGTERM')
    await exited
  }
  rmSync(data, { recursive: true, force: true })
}
