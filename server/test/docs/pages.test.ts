import { existsSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { type TestApp, startApp, useApp } from '../support/app.ts'
import { runPage, showsRefusal } from '../support/page-run.ts'
import { type Page, allPages, commandsOf, deadLinks } from '../support/pages.ts'
import { usePrograms } from '../support/process.ts'

usePrograms({ isBuilt: false })

const pages = allPages()
const quickstart = pages.find(({ name }) => name === 'docs/quickstart.md')!
/** The guides go on from the quickstart's token. */
const [, ...afterStart] = commandsOf(quickstart)
const untilToken = afterStart.slice(0, afterStart.findIndex(({ text }) => text.includes('AUTH=')) + 1)
const standsAlone = ({ name }: Page): boolean => name === 'README.md'

/** A page that commands the server itself gets one of its own; the others get an organization of their own. */
const commandsServer = (page: Page): boolean => commandsOf(page).some(({ text }) => text.includes('npx lastseen'))
const shared = useApp()
let own: TestApp | null = null
afterEach(async () => {
  await own?.stop()
  own = null
})

describe('A page of the documentation', () => {
  const runnable = pages.filter((page) => page !== quickstart && commandsOf(page).length > 0)

  it.each(runnable.map((page) => [page.name, page] as const))(
    '%s runs from top to bottom and prints what it shows',
    { timeout: 120_000 },
    async (_name, page) => {
      const app = commandsServer(page) ? (own = await startApp()) : shared.app
      const org = await app.newOrg('My organization')
      const { clientId, clientSecret } = await org.full.mint()
      const blanks = { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret }
      const settings = { DATABASE_URL: app.databaseUrl }
      await runPage(page, { url: app.url, blanks, settings }, standsAlone(page) ? [] : untilToken)
    },
  )
})

describe('The documentation', () => {
  it('has no example of curl that is not run', () => {
    const blocks = pages.flatMap((page) => page.blocks.map((block) => ({ ...block, page: page.name })))
    const elsewhere = blocks.filter(({ language, text }) => language !== 'sh' && /\bcurl\b/.test(text))
    expect(elsewhere.map(({ page, line }) => `${page}:${line}`)).toEqual([])
    const prose = pages.map(({ name, text }) => [name, text.replaceAll(/^```\w*\n[^]*?\n```$/gm, '')] as const)
    expect(prose.filter(([, text]) => /^\W*curl (-|"?\$|"?http)/m.test(text)).map(([name]) => name)).toEqual([])
    const unrun = blocks.filter(({ unrunReason }) => unrunReason !== null)
    expect(unrun.map(({ page, text, unrunReason }) => [page, text.split('\n')[0], unrunReason])).toEqual([])
  })

  it('shows a refusal for one request at a time, so that no other refusal goes unnoticed', () => {
    const refused = pages.flatMap((page) =>
      commandsOf(page)
        .filter(showsRefusal)
        .map(({ text }) => [page.name, text]),
    )
    expect(refused.filter(([, text]) => text!.match(/\bcurl\b/g)?.length !== 1)).toEqual([])
  })

  it('has no link that leads nowhere', () => {
    expect(pages.flatMap((page) => deadLinks(page, existsSync))).toEqual([])
  })

  it('has an index that leads to every page', () => {
    const index = pages.find(({ name }) => name === 'docs/README.md')!
    const below = pages.map(({ name }) => name).filter((name) => /^docs\/[^/]+\.md$/.test(name) && name !== index.name)
    expect(below.filter((name) => !index.text.includes(`(${name.slice('docs/'.length)})`))).toEqual([])
  })
})
