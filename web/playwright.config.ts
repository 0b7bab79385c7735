import { defineConfig } from '@playwright/test'
import { launchOptions } from './test/support/browser.ts'

export default defineConfig({
  testDir: 'test',
  testMatch: '*.test.ts',
  outputDir: '.cache/browser',
  globalSetup: './test/support/global-setup.ts',
  // The tests do not measure speed, and a shared machine may stall for half a minute.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  // `npm test` lists the tests that pass only on the second run; `npm run test:all` runs each test once.
  retries: process.env['TEST_ROUNDS'] === 'full' ? 0 : 1,
  // On two cores: one of three usually waits for the server, a timer of the page or a new window.
  workers: 3,
  fullyParallel: false,
  forbidOnly: process.env['CI'] !== undefined,
  use: {
    browserName: 'chromium',
    launchOptions: launchOptions(),
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    screenshot: 'only-on-failure',
    // Playwright cannot intercept requests that pass through a worker. The tests about the worker allow it.
    serviceWorkers: 'block',
  },
  projects: [
    {
      name: 'desk',
      // Without animations, which the browser renders without a graphics card here. The phone project has them.
      use: { viewport: { width: 1280, height: 800 }, contextOptions: { reducedMotion: 'reduce' } },
    },
    {
      name: 'phone',
      // The tests that are about a phone. `npm run test:all` runs every flow, except what no screen size changes: how much is
      // loaded, the client on a page of another origin, the pace of the live stream, and tabs that share a session.
      ...(process.env['TEST_ROUNDS'] === 'full' ? {} : { grep: /@phone/ }),
      testIgnore: /(bundle|client)\.test\.ts/,
      grepInvert: /Fifty moves per second|Tabs share one session/,
      use: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
    },
  ],
})
