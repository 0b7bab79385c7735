import { existsSync } from 'node:fs'

/** Debian's Chromium if it is installed; otherwise the browser that Playwright downloads. */
const debian = '/usr/bin/chromium'

const args = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
]

export const launchOptions = (...more: readonly string[]) => ({
  args: [...args, ...more],
  ...(existsSync(debian) ? { executablePath: debian } : {}),
})
