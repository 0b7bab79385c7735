import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'
import { type PageReader, runPage, showsErrorStatus } from '../support/page-runner.ts'
import { type Page, allPages, commandsOf, deadLinks, inReadingOrder } from '../support/pages.ts'
import { freePort } from '../support/free-port.ts'
import {
  type LaunchOptions,
  type Program,
  firstCredentials,
  launch,
  newFolder,
  repository,
  usePrograms,
} from '../support/process.ts'
import { isFull } from '../support/rounds.ts'
import { WebhookNetwork, urlOf } from '../support/webhooks.ts'

usePrograms()

const pages = allPages()
const quickstart = pages.find(({ name }) => name === 'docs/quickstart.md')!
const [start, ...afterStart] = commandsOf(quickstart)
/** The other guides continue after the step of the quickstart that gets a token. */
const untilToken = afterStart.slice(0, afterStart.findIndex(({ text }) => text.includes('AUTH=')) + 1)

/** Backups are tested in the nightly run, and so is their page. */
const isOfRun = ({ name }: Page): boolean => isFull || name !== 'docs/operating/backup.md'
const runnable = inReadingOrder(pages).filter((page) => commandsOf(page).length > 0 && isOfRun(page))

const runInOrder = (order: readonly Page[], server: () => PageReader): void =>
  it.each(order.map((page) => [page.name, page] as const))('%s runs and prints what it shows', async (_name, page) => {
    // Every start of npx takes a second, so a short run has it in one page with one such command.
    const reader = { ...server(), withoutNpx: !isFull && page.name !== 'docs/limits.md' }
    if (page === quickstart) await runPage({ ...page, blocks: afterStart }, reader)
    else await runPage(page, reader, page.name === 'README.md' ? [] : untilToken)
  })

/** A new server, and the values that the reader of a page has after the first credentials are printed. */
async function startServer(
  network: WebhookNetwork,
  database: Record<string, string>,
  options: LaunchOptions,
): Promise<{ program: Program; reader: PageReader }> {
  const port = String(await freePort())
  const settings = { ...network.settings, ...database, PORT: port, LASTSEEN_MQTT_PORT: String(await freePort()) }
  const program = launch(settings, options)
  await program.says(/^MQTT broker for readers: .+$/m)
  const { client_id: CLIENT_ID, client_secret: CLIENT_SECRET, password: PASSWORD } = firstCredentials(program.stderr)
  const blanks = { CLIENT_ID, CLIENT_SECRET, PASSWORD, HOOK_URL: urlOf(await network.receiver()) }
  return { program, reader: { port, blanks, settings } }
}

describe('Every page runs on one and the same server, in the order of docs/README.md:', { timeout: 120_000 }, () => {
  const network = new WebhookNetwork()
  let program: Program
  let reader: PageReader

  beforeAll(async () => {
    await network.prepare()
    const database = { LASTSEEN_DATA_DIR: newFolder() }
    const asQuickstart: LaunchOptions = { command: ['bash', '-c', start!.text], isGroup: true }
    ;({ program, reader } = await startServer(network, database, asQuickstart))
  }, 120_000)
  afterAll(async () => {
    const { stderr } = await program.stop('SIGINT')
    await network.stop()
    expect(stderr).toContain('Stopped.')
  })

  it('npm start prints what the quickstart shows', () => {
    const { settings } = reader
    const printed = program.stderr
      .slice(program.stderr.indexOf('  First start.'))
      .replaceAll(/(Password +|client_id +|client_secret +ls_)\S+$/gm, '$1…')
      .replace(`:${settings['PORT']} `, ':8080 ')
      .replace(`:${settings['LASTSEEN_MQTT_PORT']}`, ':1883')
    expect(printed.trimEnd()).toBe(start!.output!.text)
  })

  runInOrder(runnable, () => reader)
})

describe.runIf(isFull)('Every page runs on another server in the reverse order:', { timeout: 120_000 }, () => {
  const network = new WebhookNetwork()
  let database: TestDatabase
  let program: Program
  let reader: PageReader

  beforeAll(async () => {
    await network.prepare()
    database = await cloneDatabase()
    ;({ program, reader } = await startServer(network, { DATABASE_URL: database.url }, {}))
  }, 120_000)
  afterAll(async () => {
    await program.stop()
    await database.drop()
    await network.stop()
  })

  runInOrder(runnable.toReversed(), () => reader)
})

/** Blocks of a page that are not run: how each starts, and why. */
const notRun = (page: string, blocks: [RegExp, RegExp | string][]): unknown[] =>
  blocks.map(([start, why]) => [
    page,
    expect.stringMatching(start),
    typeof why === 'string' ? why : expect.stringMatching(why),
  ])

describe('The documentation', () => {
  const blocks = pages.flatMap((page) => page.blocks.map((block) => ({ ...block, page: page.name })))
  const placeOf = ({ page, line }: { page: string; line: number }): string => `${page}:${line}`

  it('names the language of every block, so that a command is either run or listed below as not run', () => {
    // benchmarks.md is written by the benchmark.
    const unnamed = blocks.filter(({ language, page }) => language === '' && page !== 'docs/benchmarks.md')
    expect(unnamed.map(placeOf)).toEqual([])
  })

  it('has no example of curl that is not run, and few other commands', () => {
    const elsewhere = blocks.filter(({ language, text }) => language !== 'sh' && /\bcurl\b/.test(text))
    expect(elsewhere.map(placeOf)).toEqual([])
    const prose = pages.map(({ name, text }) => [name, text.replaceAll(/^```\w*\n[^]*?\n```$/gm, '')] as const)
    expect(prose.filter(([, text]) => /^\W*curl (-|"?\$|"?http)/m.test(text)).map(([name]) => name)).toEqual([])
    const unrun = blocks.filter(({ unrunReason }) => unrunReason !== null)
    expect(unrun.map(({ page, text, unrunReason }) => [page, text.split('\n')[0], unrunReason])).toEqual([
      ['README.md', 'git clone <this repository> lastseen', 'the tests start the server as the quickstart does'],
      ['README.md', expect.stringMatching(/^npm test /), 'it takes many minutes'],
      ['docs/development.md', 'npm ci', 'it runs a test inside the tests'],
      ['docs/development.md', 'npm run dev', 'it does not end'],
      ['docs/development.md', 'npm run check', 'it takes many minutes'],
      ...notRun('docs/operating/backup.md', [
        [/^lastseen restore FILE /, /^it needs a stopped service; server\/test\/process\/backup.test.ts /],
        [/^docker compose exec /, /^needs Docker; server\/test\/process\/backup.test.ts /],
        [/^docker compose stop /, /^needs Docker; server\/test\/process\/backup.test.ts /],
        [/^pg_dump /, 'needs an external server; server/test/process/scheduled-backup.test.ts dumps and restores one'],
      ]),
      ...notRun('docs/operating/install-container.md', [
        [/^docker load /, /^needs Docker; server\/test\/packaging\/image.test.ts starts the image, /],
        [/^for NAME in DATABASE_PASSWORD /, /^needs Docker; .+ check its parts$/],
        [/^docker compose /, /^needs Docker; server\/test\/packaging\/broker.test.ts adds accounts /],
      ]),
      ...notRun('docs/operating/install-kubernetes.md', [
        [/^docker load /, /^needs a cluster; server\/test\/packaging\/chart.test.ts renders the chart /],
      ]),
      ...notRun('docs/operating/install-npm.md', [
        [/^npm install /, /^it changes the machine; server\/test\/packaging\/packages.test.ts installs the tarball /],
        [
          /^npm install /,
          /^it changes the machine; server\/test\/packaging has tests of the tarballs and of the units$/,
        ],
        [/^systemctl daemon-reload/, 'needs systemd; server/test/packaging has tests of the units'],
        [/^systemd-run /, /^needs systemd; the commands themselves run in docs\/operating\/commands.md$/],
      ]),
      ['docs/operating/install.md', 'npm ci', 'it builds the program that runs the tests'],
      ['docs/operating/tls.md', expect.stringMatching(/^install -d /), 'it changes the machine'],
      ...notRun('docs/operating/upgrading.md', [
        [/^systemctl stop /, /^it changes the machine; server\/test\/upgrade\/rolling.test.ts upgrades /],
      ]),
      ['docs/releasing.md', 'npm run release', expect.stringContaining('packages.test.ts makes a release')],
      ['docs/reliability.md', expect.stringMatching(/^npm run drill /), 'it takes many minutes'],
      ['docs/scaling.md', 'for node in 0 1 2; do', 'needs Citus'],
      ['docs/scaling.md', expect.stringMatching(/^TEST_DATABASE_URL=/), 'needs a database server of its own'],
      ...['openssl req', 'SECRET='].map((start) => [
        'docs/webhooks.md',
        expect.stringContaining(start),
        'it restarts the server; the tests deliver to this receiver over HTTPS',
      ]),
    ])
  })

  it('has commands only in blocks that name the shell', () => {
    const command = /^(\w+=\S* )*(sudo |exec )?(npx|npm|curl|docker|helm|kubectl|systemctl|systemd-run|pg_dump) /m
    const outputs = pages.flatMap((page) => page.blocks.map(({ output }) => output?.text))
    const hidden = blocks.filter(
      ({ language, text, page }) =>
        language !== 'sh' && page !== 'docs/benchmarks.md' && command.test(text) && !outputs.includes(text),
    )
    expect(hidden.map(placeOf)).toEqual([])
  })

  it('names existing tests as the reason why a block is not run', () => {
    const named = blocks.flatMap(({ unrunReason }) => unrunReason?.match(/server\/test\/[\w/.-]*\w/g) ?? [])
    expect(named.filter((path) => !existsSync(join(repository, path)))).toEqual([])
    expect(named.length).toBeGreaterThan(7)
  })

  it('shows an error status for one request per block, so that no other error goes unnoticed', () => {
    const rejected = pages.flatMap((page: Page) =>
      commandsOf(page)
        .filter(showsErrorStatus)
        .map(({ text }) => [page.name, text]),
    )
    expect(rejected.filter(([, text]) => text!.match(/\bcurl\b/g)?.length !== 1)).toEqual([])
  })

  it('has no dead link', () => {
    expect(pages.flatMap((page) => deadLinks(page, existsSync))).toEqual([])
  })

  it('has an index that links to every page', () => {
    const index = pages.find(({ name }) => name === 'docs/README.md')!
    const below = pages
      .map(({ name }) => name)
      .filter((name) => /^docs\/(operating\/)?[^/]+\.md$/.test(name) && name !== index.name)
    expect(below.filter((name) => !index.text.includes(`(${name.slice('docs/'.length)})`))).toEqual([])
  })
})
