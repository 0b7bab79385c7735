import { defineConfig } from '@playwright/test'
import { launchOptions } from './test/support/browser.ts'

export default defineConfig({
  testDir: 'test',
  testMatch: '*.test.ts',
  outputDir: '.cache/browser',
  globalSetup: './test/support/global-setup.ts',
  // Nothing here is a measure of speed: a machine that others use as well may stand still for half a minute.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  workers: 2,
  fullyParallel: false,
  forbidOnly: process.env['CI'] !== undefined,
  use: {
    browserName: 'chromium',
    launchOptions: launchOptions(),
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    screenshot: 'only-on-failure',
  },
  projects: [
    { name: 'desk', use: { viewport: { width: 1280, height: 800 } } },
    {
      name: 'phone',
      // Every flow. Left out is what no screen changes: how much is loaded, the client on a page of somebody else, the
      // pace of the live stream, and tabs that share a session.
      testIgnore: /(bundle|client)\.test\.ts/,
      grepInvert: /Fifty moves a second|Tabs share one session/,
      use: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
    },
  ],
})
