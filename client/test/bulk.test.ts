import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../server/test/support/app.ts'
import { csvLine } from '../../server/src/bulk/csv.ts'
import { acceptedNumbers, rejectedNumbers } from '../../server/test/support/metadata-numbers.ts'
import { Progress } from '../src/cli/progress.ts'
import type { Lastseen } from '../src/index.ts'
import { newClient } from './support/clients.ts'
import { cliOf, newFolder, run } from './support/cli.ts'

const context = useApp({ settings: { LASTSEEN_QUOTA_LOCATIONS: '20' } })
const folder = newFolder()
let org: TestOrg
let client: Lastseen
let cli: Awaited<ReturnType<typeof cliOf>>

beforeAll(async () => {
  org = await context.app.newOrg()
  ;({ client } = await newClient(org))
  cli = await cliOf(org, folder)
})

let files = 0
function file(...lines: string[]): string {
  const path = join(folder, `${++files}.csv`)
  writeFileSync(path, lines.join('\r\n'))
  return path
}

describe('an export', () => {
  it('can be imported again and changes nothing', async () => {
    await client.locations.create({ external_key: 'HALL', name: 'Hall', description: '=SUM(A1)' })
    await client.locations.create({ external_key: 'SHELF', name: "'quoted'", parent_external_key: 'HALL' })
    await client.assets.create({
      external_key: '-1, "x"',
      name: ' blanks ',
      description: 'two\r\nlines',
      metadata: { a: { b: [1, null] }, 'x.y': 'ü' },
      valid_to: '2999-01-01T00:00:00Z',
      tags: [
        { tag_type: 'rfid', value: 'E280' },
        { tag_type: 'ble', value: 'AA:BB' },
      ],
    })
    await client.assets.create({ external_key: 'PLAIN', name: 'Plain', description: '', is_active: false })

    for (const kind of ['assets', 'locations'] as const) {
      const path = join(folder, `${kind}.csv`)
      const written = await cli.run('export', kind, '--out', path)
      expect(written).toEqual({ code: 0, stdout: '', stderr: `2 ${kind} in ${path}\n` })
      const piped = await cli.run('export', kind)
      expect(piped.stdout).toBe(readFileSync(path, 'utf8'))
      expect(existsSync(`${path}.part`)).toBe(false)

      const before = await client[kind].list()
      const imported = await cli.json('import', path)
      expect(imported).toEqual({
        ...{ kind, dry_run: false, state: 'done', created: 0, updated: 0, unchanged: 2, failed: 0, errors: [] },
      })
      expect(await client[kind].list()).toEqual(before)
    }
  })

  it('reports a file that cannot be written, exit code 1', async () => {
    const result = await cli.run('export', 'assets', '--out', join(folder, 'missing/assets.csv'))
    expect(result).toMatchObject({ code: 1, stderr: expect.stringMatching(/^ENOENT: no such file or directory/) })
  })

  it('equals the export of the web app', async () => {
    const { accessToken } = await org.signIn('admin')
    for (const kind of ['assets', 'locations']) {
      const reply = await context.app.anonymous('GET', `/api/v1/exports/${kind}.csv`, { token: accessToken })
      expect(reply.status, reply.text).toBe(200)
      // `reply.text` has no byte order mark, because undici removes it.
      expect((await cli.run('export', kind)).stdout).toBe(`\uFEFF${reply.text}`)
    }
  })
})

describe('an import', () => {
  it('creates and updates by key, and keeps fields that the file does not contain', async () => {
    const own = await context.app.newOrg()
    const [{ client: ownClient }, ownCli] = [await newClient(own), await cliOf(own, folder)]
    await ownClient.assets.create({ external_key: 'OLD', name: 'Old', description: 'stays', metadata: { a: 1 } })
    await ownClient.assets.create({ external_key: 'LATER', name: 'Later', valid_from: '2998-01-01T00:00:00Z' })
    const path = file(
      'external_key,name,metadata.owner,is_active,tags,valid_from',
      'OLD,New name,dock 3,no,"rfid:E280',
      'barcode:1",',
      'NEW,Brand new,,,E281,2026-05-04T10:00:00+02:00',
      'LATER,Hidden from lists,,,,2998-01-01T01:00:00.0009+01:00',
    )
    const dry = await ownCli.json('import', path, '--dry-run')
    expect(dry).toMatchObject({ dry_run: true, updated: 2, created: 1, failed: 0 })
    expect((await ownClient.assets.list()).total_count).toBe(1)

    const first = await ownCli.run('import', path)
    expect(first).toEqual({ code: 0, stdout: '', stderr: '1 created, 2 updated, 0 unchanged, 0 with errors\n' })
    expect(await ownClient.assets.findByKey('OLD')).toMatchObject({
      name: 'New name',
      description: 'stays',
      is_active: false,
      metadata: { a: 1, owner: 'dock 3' },
      tags: [
        { tag_type: 'rfid', value: 'E280' },
        { tag_type: 'barcode', value: '1' },
      ],
    })
    expect(await ownClient.assets.findByKey('NEW')).toMatchObject({
      valid_from: '2026-05-04T08:00:00.000Z',
      tags: [{ tag_type: 'rfid', value: 'E281' }],
    })
    expect(await ownClient.assets.findByKey('LATER')).toMatchObject({ name: 'Hidden from lists' })
    expect(await ownCli.json('import', path)).toMatchObject({ created: 0, updated: 0, unchanged: 3 })
  })

  it('creates parents before their children', async () => {
    const own = await context.app.newOrg()
    const ownCli = await cliOf(own, folder)
    const rows = ['C,Bin,B', 'B,Shelf,A', 'A,Hall,', 'D,Bin,B'].join('\n')
    const input = `external_key,name,parent_external_key\n${rows}\n`
    const result = await run(['import', '-'], { env: ownCli.env, input })
    expect(result).toMatchObject({ code: 0, stderr: '4 created, 0 updated, 0 unchanged, 0 with errors\n' })
    const { data } = await (await newClient(own)).client.locations.list()
    expect(data.map((location) => [location.external_key, location.parent_external_key])).toEqual([
      ['A', null],
      ['B', 'A'],
      ['C', 'B'],
      ['D', 'B'],
    ])
  })

  it('reports lines with errors by number and imports the others', async () => {
    const own = await cliOf(await context.app.newOrg(), folder)
    const path = file(
      'external_key,description,name,valid_to,tags',
      'A,,Good,,E1',
      ',,Nameless,,',
      'B,,Late,tomorrow,',
      'A,,Again,,',
      'C,,Thief,,e1',
      'D,"two',
      'lines",Good,,',
      'E,,x,,,,',
      `F,,${'x'.repeat(256)},,`,
    )
    const result = await own.run('import', path)
    expect(result.code).toBe(1)
    expect(result.stderr.trimEnd().split('\n')).toEqual([
      'line 3: external_key: external_key is required',
      'line 4: valid_to: valid_to must be an RFC 3339 timestamp',
      'line 5: external_key: external_key also appears in line 2',
      'line 6: tags[0].value: This tag also appears in line 2',
      'line 9: there are 7 cells under 5 columns',
      'line 10: name: name must be at most 255 characters',
      '2 created, 0 updated, 0 unchanged, 6 with errors',
      '6 of 8 lines have errors',
    ])
    expect(await own.json('assets', 'get', 'D')).toMatchObject({ description: 'two\r\nlines' })
  })

  it('rejects each line with a number in metadata that would be changed, and imports the others [D47]', async () => {
    const own = await cliOf(await context.app.newOrg(), folder)
    const rows = rejectedNumbers.map(([, metadata], index) => csvLine([`BAD-${index}`, 'x', metadata]).trimEnd())
    const path = file('external_key,name,metadata', ...rows, csvLine(['GOOD', 'x', '{"n":1}']))
    const result = await own.run('import', path)
    expect(result.code).toBe(1)
    expect(result.stderr.trimEnd().split('\n')).toEqual([
      ...rejectedNumbers.map(
        ([, , field], index) => `line ${index + 2}: ${field}: ${field} contains a number that cannot be stored exactly`,
      ),
      `1 created, 0 updated, 0 unchanged, ${rows.length} with errors`,
      `${rows.length} of ${rows.length + 1} lines have errors`,
    ])
    const listed = await own.json('assets', 'list')
    expect(listed.data.map((asset: { external_key: string }) => asset.external_key)).toEqual(['GOOD'])
  })

  it('stores all other numbers in metadata exactly [D47]', async () => {
    const own = await cliOf(await context.app.newOrg(), folder)
    const rows = acceptedNumbers.map(([, text], index) => csvLine([`K-${10 + index}`, 'x', `{"n":${text}}`]).trimEnd())
    const path = file('external_key,name,metadata', ...rows)
    expect(await own.json('import', path)).toMatchObject({ created: rows.length, failed: 0 })
    const listed = await own.json('assets', 'list')
    const values = listed.data.map((asset: { metadata: { n: number } }) => asset.metadata.n)
    expect(values).toEqual(acceptedNumbers.map(([, , value]) => value))
  })

  it.concurrent.each([
    ['an unknown column', 'external_key,colour', "line 1: assets have no column 'colour'"],
    ['no key', 'name', 'line 1: the column external_key is missing'],
    ['a column twice', 'external_key,name,name', 'line 1: the column name occurs twice'],
    ['nothing', '', 'the file is empty'],
    ['an open quote', 'external_key,name\r\nA,"x', 'line 2: a quote is never closed'],
  ])('rejects a file with %s as a usage error', async (_case, text, message) => {
    const path = file(text)
    const result = await cli.run('import', path)
    expect(result).toEqual({ code: 2, stdout: '', stderr: `${path}: ${message} (see --help)\n` })
  })

  it('imports nothing with --on-error abort when a line has an error', async () => {
    const own = await cliOf(await context.app.newOrg(), folder)
    const result = await own.run('import', file('external_key,name', 'A,a', 'B,'), '--on-error', 'abort')
    expect(result).toMatchObject({
      code: 1,
      stderr: [
        'line 3: name: name is required',
        '0 created, 0 updated, 0 unchanged, 1 with errors',
        '1 row has errors; nothing was changed\n',
      ].join('\n'),
    })
    expect((await own.json('assets', 'list')).data).toEqual([])
  })

  it('creates no records with --mode update', async () => {
    const own = await cliOf(await context.app.newOrg(), folder)
    const result = await own.run('import', file('external_key,name', 'A,a'), '--mode', 'update')
    expect(result).toMatchObject({ code: 1, stderr: expect.stringMatching(/^line 2: external_key: /) })
  })

  it.each([
    ['ndjson', '{"external_key":"H","name":"h","parent_external_key":null}\n'],
    ['json', '[{"external_key":"H","name":"h","parent_external_key":null}]'],
  ])('reads a .%s file', async (extension, text) => {
    const own = await cliOf(await context.app.newOrg(), folder)
    const path = join(folder, `rows.${extension}`)
    writeFileSync(path, text)
    expect(await own.json('import', path)).toMatchObject({ kind: 'locations', created: 1 })
  })

  it('is rejected when the credential lacks the scope', async () => {
    const reader = await cliOf(org, folder, ['assets:read'])
    const result = await reader.run('import', file('external_key,name', 'X1,x', 'X2,x'))
    expect(result.code).toBe(1)
    expect(result.stderr).toContain(
      'The server rejected the request (403 forbidden): Missing required scope: assets:write',
    )
  })

  it.each([
    ['', '0 created, 0 updated'],
    ['--dry-run', 'Dry run: 21 created, 0 updated'],
  ])('that is rejected as a whole says why, once and without a line %s', async (option, counts) => {
    const own = await cliOf(await context.app.newOrg(), folder)
    const rows = Array.from({ length: 21 }, (_none, index) => `L${index},Shelf,`)
    const path = file('external_key,name,parent_external_key', ...rows)
    const { code, stderr } = await own.run(...['import', path, option].filter((part) => part !== ''))
    expect([code, stderr.split('\n')]).toEqual([
      1,
      [`${counts}, 0 unchanged, 0 with errors`, expect.stringMatching(/^Quota locations reached: .* 20 /), ''],
    ])
  })

  it('of many lines takes a few tokens of the rate limit', async () => {
    const own = await context.app.newOrg()
    const ownCli = await cliOf(own, folder)
    const rows = Array.from({ length: 2000 }, (_none, index) => `K${index},Crate ${index}`)
    const result = await ownCli.run('import', file('external_key,name', ...rows))
    expect(result).toMatchObject({ code: 0, stderr: '2000 created, 0 updated, 0 unchanged, 0 with errors\n' })
    expect((await (await newClient(own)).client.assets.list({ limit: 1 })).total_count).toBe(2000)
  })
})

describe('progress', () => {
  it('is a bar on a terminal, which is cleared at the end', () => {
    let [text, now] = ['', 0]
    const progress = new Progress({ isTTY: true, write: (more) => (text += more) }, 'Importing', () => now)
    for (const [ms, done] of [
      [0, 1],
      [200, 2],
      [10, 3],
    ] as const) {
      now += ms
      progress.show(done, 4)
    }
    progress.end()
    const clear = '\r\u001B[K'
    expect(text).toBe(
      `${clear}Importing ${'█'.repeat(6)}${'░'.repeat(18)} 1 of 4${clear}Importing ${'█'.repeat(12)}${'░'.repeat(12)} 2 of 4${clear}`,
    )
  })

  it.skipIf(process.platform !== 'linux')(
    'is shown by lastseen import on a terminal, and cleared at the end',
    async () => {
      const path = file('external_key,name', 'T1,Tent', 'T2,Tent')
      const line = `${process.execPath} ${fileURLToPath(new URL('../bin/lastseen.mjs', import.meta.url))} import ${path}`
      const { code, stdout } = await run([], { env: cli.env, command: ['script', '-qec', line, '/dev/null'] })
      const lines = stdout.split('\r\u001B[K')
      expect([code, lines]).toEqual([
        0,
        expect.arrayContaining([expect.stringMatching(/^Importing [█░]{24} \d of 2$/)]),
      ])
      expect(lines.at(-1)).toMatch(/^2 created, 0 updated, 0 unchanged, 0 with errors\r?\n$/)
    },
  )
})
