import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Modules are loaded once per worker, as in the server's tests.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
