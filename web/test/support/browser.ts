import { existsSync } from 'node:fs'

/**
 * Debian's headless Chromium if it is installed, or its Chromium with windows, which takes a sixth more processor time;
 * otherwise the browser that Playwright downloads.
 */
const debian = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path))

/**
 * The pages of the address bar's popup, which a window opens in a process of its own: a fifth of the processor time of a
 * test. The option replaces that of Playwright, so the features without which a test can differ are repeated.
 */
const disabledFeatures = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'HttpsUpgrades',
  'MediaRouter',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
]

const args = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${disabledFeatures.join(',')}`,
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
]

export const launchOptions = (...more: readonly string[]) => ({
  args: [...args, ...more],
  ...(debian === undefined ? {} : { executablePath: debian }),
})
