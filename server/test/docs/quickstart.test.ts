import { expect, it } from 'vitest'
import { runPage } from '../support/page-run.ts'
import { allPages } from '../support/pages.ts'
import { firstCredentials, freePort, launch, newFolder, usePrograms } from '../support/process.ts'

usePrograms()

const page = allPages().find(({ name }) => name === 'docs/quickstart.md')!

it('The quickstart leads a newcomer from `npm start` to the history of an asset', { timeout: 120_000 }, async () => {
  const [start, ...others] = page.blocks.filter((block) => block.language === 'sh')
  const settings = { LASTSEEN_DATA_DIR: newFolder(), PORT: String(await freePort()) }
  const program = launch(settings, { command: ['bash', '-c', start!.text], isGroup: true })
  const [, url] = await program.says(/^Lastseen is ready: (http:\S+) .*Ctrl\+C\)$/m)
  const said = program.stderr.replace(`:${settings.PORT} `, ':8080 ').trimEnd()
  expect(worded(said.slice(said.indexOf('  First start.')))).toBe(start!.output!.text)
  const { client_id: CLIENT_ID, client_secret: CLIENT_SECRET } = firstCredentials(program.stderr)
  await runPage({ ...page, blocks: others }, { url: url!, blanks: { CLIENT_ID, CLIENT_SECRET }, settings })
  expect((await program.stop('SIGINT')).stderr).toContain('Stopped.')
})

/** What a first start prints, as the page shows it. */
const worded = (text: string): string => text.replaceAll(/(Password +|client_id +|client_secret +ls_)\S+$/gm, '$1…')
