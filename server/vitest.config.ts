import { existsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

/**
 * Every contract file runs once, on one of two databases: those whose name begins with p to z on PostgreSQL 15, the oldest
 * version supported, with two server processes that take turns; the rest on the embedded PostgreSQL with one process.
 * A run that names its database (`TEST_POSTGRES`, `TEST_PROCESSES`, `TEST_DATABASE_URL`) has all files there, and so
 * has a machine without PostgreSQL 15. `npm run test:all` runs all contract files on both.
 */
const onPostgres15 = ['test/contract/**/[p-z]*.test.ts', 'test/db/tenancy.test.ts']

/** Tests that start the program as an operator does, kill it, repeat a race or wait for a retry: the slow ones come last. */
const slow = ['test/{docs,faults,packaging,process,races,webhooks}/**/*.test.ts', 'test/db/{outage,sharing}.test.ts']

/**
 * What surrounds the service: the files of the embedded PostgreSQL, backups, a standby that takes over, terminals and log
 * files that go away, the installation of packages and their contents, the commands of the operator as programs, several
 * worker processes, the demo, the simulator and the coverage check. They start so many programs that `npm test` leaves
 * them out.
 */
const nightly = [
  'test/{backup/backup,embedded-postgres/embedded-postgres,evidence/evidence,packaging/packaging}.test.ts',
  'test/faults/failover.test.ts',
  'test/process/{backup,bootstrap,hangup,log-format,log-lost,outside}.test.ts',
  'test/process/{cli,cli-errors,no-database,operator-lists}.test.ts',
  'test/process/{crash,demo,roles,simulate,workers}.test.ts',
]

const isNamed = ['TEST_POSTGRES', 'TEST_PROCESSES', 'TEST_DATABASE_URL'].some((name) => process.env[name] !== undefined)
const isSplit = !isNamed && existsSync('/usr/lib/postgresql/15/bin/postgres')

const project = (name: string, order: number, test: object) => ({
  extends: true as const,
  test: { name, sequence: { groupOrder: order }, ...test },
})

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/seed.ts'],
    pool: 'forks',
    // On two cores: one of three usually waits for the database, a start, a stop or a retry.
    maxWorkers: 3,
    // Modules are loaded once per worker: no test file changes one, and loading took a third of the time.
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      project('embedded', 0, {
        include: ['test/**/*.test.ts'],
        exclude: isSplit ? [...onPostgres15, ...slow, ...nightly] : [...slow, ...nightly],
      }),
      ...(isSplit
        ? [project('postgres15', 1, { include: onPostgres15, env: { TEST_POSTGRES: '15', TEST_PROCESSES: '2' } })]
        : []),
      project('slow', 2, { include: slow, exclude: nightly }),
      project('nightly', 3, { include: nightly }),
    ],
  },
})
