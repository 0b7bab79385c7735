import { defineConfig } from '@playwright/test'
import { launchOptions } from './test/support/browser.ts'

export default defineConfig({
  testDir: 'test',
  testMatch: '*.test.ts',
  outputDir: '.cache/browser',
  globalSetup: './test/support/start.ts',
  timeout: 60_000,
  expect: { timeout: 15_000 },
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
      // Everything a person does. Left out: what is loaded, and the client on a page of somebody else, whatever the screen.
      testIgnore: /(bundle|client)\.test\.ts/,
      use: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
    },
  ],
})
