import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Locator, Page } from '@playwright/test'
import { Lastseen } from '../../client/src/index.ts'
import { Org, url } from './support/org.ts'
import { expect, test } from './support/test.ts'

const program = fileURLToPath(new URL('../../client/bin/lastseen.mjs', import.meta.url))
const card = (page: Page): Locator => page.locator('section', { has: page.getByRole('heading', { name: 'Import' }) })

type ErrorLine = [line: number, field: string, message: string]

/** What a sender reports: counts and errors by line, or why the whole file is rejected. */
type Report = { counts: number[]; errors: ErrorLine[] } | { rejected: string }

interface Key {
  client_id: string
  client_secret: string
}

const newKey = async (org: Org): Promise<Key> => {
  const { org: own } = (await org.get('/auth/me')) as { org: { id: number } }
  const scopes = ['assets:read', 'assets:write', 'locations:read', 'locations:write']
  const { jti, key } = (await org.post(`/orgs/${own.id}/api-keys`, { name: 'import', scopes })) as {
    jti: string
    key: string
  }
  return { client_id: jti, client_secret: key }
}

async function inWebApp(page: Page, org: Org, buffer: Buffer): Promise<Report> {
  await org.signIn(page, org.email, '/import')
  await page.locator('input[type=file]').setInputFiles({ name: 'odd.csv', mimeType: 'text/csv', buffer })
  const check = page.getByRole('button', { name: /^Check / })
  const alert = card(page).getByRole('alert')
  await expect(check.or(alert)).toBeVisible()
  // Below the title of the message.
  if (await alert.isVisible()) return { rejected: (await alert.innerText()).trim().split('\n').at(-1) ?? '' }
  await check.click()
  await expect(card(page)).toContainText('Checked. No data was changed yet.')
  const rows = await page.getByRole('table', { name: 'Errors' }).getByRole('row').all()
  const errors: ErrorLine[] = []
  for (const row of rows.slice(1)) {
    const [line = '', field = '', message = ''] = await row.getByRole('cell').allInnerTexts()
    errors.push([Number(line), field, message])
  }
  const text = (await card(page).textContent()) ?? ''
  const counts = /New\s*(\d+)\s*Changed\s*(\d+)\s*Unchanged\s*(\d+)\s*Errors\s*(\d+)/.exec(text)?.slice(1).map(Number)
  return { counts: counts ?? [], errors }
}

async function overApi({ client_id, client_secret }: Key, buffer: Buffer): Promise<Report> {
  const client = new Lastseen({ baseUrl: url(), clientId: client_id, clientSecret: client_secret })
  const file = { format: 'csv' as const, content: new Uint8Array(buffer) }
  try {
    const job = await client.bulk.importAssets(file, { dryRun: true })
    const errors: ErrorLine[] = []
    for await (const { line, field, message } of client.bulk.errors(job.id)) errors.push([line, field, message])
    return { counts: [job.created, job.updated, job.unchanged, job.failed], errors }
  } catch (error) {
    return { rejected: (error as Error).message }
  }
}

async function onCommandLine({ client_id, client_secret }: Key, buffer: Buffer): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'lastseen-import-'))
  try {
    const file = join(folder, 'odd.csv')
    writeFileSync(file, buffer)
    const env = {
      ...{ PATH: process.env['PATH'], HOME: folder, LASTSEEN_URL: url() },
      ...{ LASTSEEN_CLIENT_ID: client_id, LASTSEEN_CLIENT_SECRET: client_secret },
    }
    const output = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
      const args = [program, 'import', file, '--dry-run', '--kind', 'assets', '--json']
      execFile(process.execPath, args, { env }, (_error, stdout, stderr) => resolve({ stdout, stderr }))
    })
    if (output.stdout === '') {
      const { error } = JSON.parse(output.stderr) as { error: { detail: string } }
      return { rejected: error.detail.replace(`${file}: `, '') }
    }
    const job = JSON.parse(output.stdout) as Record<'created' | 'updated' | 'unchanged' | 'failed', number> & {
      errors: { line: number; field: string; message: string }[]
    }
    const errors = job.errors.map(({ line, field, message }): ErrorLine => [line, field, message])
    return { counts: [job.created, job.updated, job.unchanged, job.failed], errors }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Separators, quotes, blank lines, columns in another order and spelling, and one error of every kind. */
const oddFile = [
  '\uFEFFName;External Key;IS_ACTIVE;valid_to;tags;rfid;Metadata.Shelf;metadata;updated_at',
  'Old name;SAME;;;;;;;2020-01-01T00:00:00Z',
  '',
  '"Crate; ""one""";K-1;yes;;"barcode:a:b',
  'E2AA";E2AB;=1;"{""Shelf"":2,""deep"":{""a"":[1,null]}}";ignored',
  "'=SUM(A1);K-2;0;;;;'x;;",
  ';K-3;;;;;;;',
  'Nameless;;;;;;;;',
  'Late;K-4;;tomorrow;;;;;',
  'Again;K-1;;;;;;;',
  'Thief;K-5;;;;e2aa;;;',
  'Maybe;K-6;maybe;;;;;;',
  'Wide;K-7;;;;;;;;more;cells',
  'Inexact;K-8;;;;;;"{""n"":9007199254740993}";',
  'No JSON;K-9;;;;;;{;',
  `${'x'.repeat(256)};K-10;;;;;;;`,
  `Huge;K-11;;;;${'x'.repeat(70_000)};;;`,
  'Renamed;OTHER;;;;;;;',
  'Last;K-12',
].join('\r\n')

const rejectedFiles: [string, Buffer][] = [
  ['an unknown column', Buffer.from('external_key,name,shelf\nA,a,x\n')],
  ['a column twice', Buffer.from('external_key\tname\tName\nA\ta\tb\n')],
  ['no key column', Buffer.from('name\na\n')],
  ['a quote that is never closed', Buffer.from('external_key,name\nA,"x\n')],
  ['text after a quote', Buffer.from('external_key,name\nA,"x"y\n')],
  ['no lines', Buffer.from('\r\n\r\n')],
  ['letters in another character set', Buffer.from('external_key,name\nA,M\xfcller\n', 'latin1')],
]

test('The web app, the API and the command line report the same result for the same odd CSV file', async ({ page }) => {
  const org = await Org.create()
  await org.asset('Old name', { external_key: 'SAME' })
  await org.asset('Other', { external_key: 'OTHER' })
  const key = await newKey(org)
  const file = Buffer.from(oddFile)
  const expected = await overApi(key, file)
  expect(expected).toMatchObject({ counts: [3, 1, 1, 11] })
  expect(await onCommandLine(key, file)).toEqual(expected)
  expect(await inWebApp(page, org, file)).toEqual(expected)
})

test('The web app, the API and the command line reject the same files with the same reason', async ({ page }) => {
  const org = await Org.create()
  const key = await newKey(org)
  for (const [what, file] of rejectedFiles) {
    const expected = await overApi(key, file)
    expect(expected, what).toHaveProperty('rejected')
    expect(await onCommandLine(key, file), what).toEqual(expected)
    expect(await inWebApp(page, org, file), what).toEqual(expected)
  }
})
