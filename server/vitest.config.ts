import { existsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Every contract file runs once, on one of two databases: those whose name begins with p to z on PostgreSQL 15, the oldest
 * version supported, with two server processes used alternately; the rest on the embedded PostgreSQL with one process.
 * A run that names its database (`TEST_POSTGRES`, `TEST_PROCESSES`, `TEST_DATABASE_URL`) has all files there, and so
 * has a machine without PostgreSQL 15. `npm run test:all` runs all contract files on both.
 */
const onPostgres15 = ['test/contract/**/[p-z]*.test.ts', 'test/db/tenancy.test.ts']

/** Tests that start the program as an operator does, kill it, repeat a race or wait for a retry. */
const slow = /\/test\/((docs|faults|process|races|webhooks)\/|db\/(outage|sharing))/

/** The slow files come last, and of each kind those that took longest in the last run come first. */
class FastFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => Number(slow.test(a.moduleId)) - Number(slow.test(b.moduleId)))
  }
}

/**
 * What surrounds the service: the files of the embedded PostgreSQL, backups, a standby that takes over, terminals and log
 * files that go away, the installation of packages and their contents, the commands of the operator as programs, several
 * worker processes, the demo, the simulator and the coverage check. They start so many programs that `npm test` leaves
 * them out.
 */
const nightly = [
  'test/{backup/backup,embedded-postgres/embedded-postgres,coverage/coverage}.test.ts',
  'test/faults/failover.test.ts',
  'test/packaging/*.test.ts',
  'test/process/{backup,bootstrap,hangup,log-format,log-lost,outside,scheduled-backup}.test.ts',
  'test/process/{cli,cli-errors,no-database,operator-lists}.test.ts',
  'test/process/{crash,demo,roles,simulate,traces,workers}.test.ts',
  'test/upgrade/rolling.test.ts',
]

const isNamed = ['TEST_POSTGRES', 'TEST_PROCESSES', 'TEST_DATABASE_URL'].some((name) => process.env[name] !== undefined)
const isSplit = !isNamed && existsSync('/usr/lib/postgresql/15/bin/postgres')

const project = (name: string, order: number, test: object) => ({
  extends: true as const,
  // A setup of the configuration below would start one more database, which no project uses.
  test: { name, sequence: { groupOrder: order }, globalSetup: ['test/support/global-setup.ts'], ...test },
})

export default defineConfig({
  test: {
    setupFiles: ['test/support/seed.ts'],
    pool: 'forks',
    // On two cores: one of three usually waits for the database, a start, a stop or a retry.
    maxWorkers: 3,
    // Modules are loaded once per worker: no test file changes one, and loading took a third of the time.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Some tests measure time, and another process may have taken the processor. `npm test` lists what passes only on the
    // second run; `npm run test:all` runs each test once.
    retry: process.env['TEST_ROUNDS'] === 'full' ? 0 : 1,
    sequence: { sequencer: FastFilesFirst },
    projects: [
      ...(isSplit
        ? [project('postgres15', 0, { include: onPostgres15, env: { TEST_POSTGRES: '15', TEST_PROCESSES: '2' } })]
        : []),
      project('embedded', 1, {
        include: ['test/**/*.test.ts'],
        exclude: isSplit ? [...onPostgres15, ...nightly] : nightly,
      }),
      project('nightly', 2, { include: nightly }),
    ],
  },
})
