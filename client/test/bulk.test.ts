import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../server/test/support/app.ts'
import { parseCsv as parseAsDocumented, valueOf as valueAsDocumented } from '../../server/test/support/csv.ts'
import { acceptedNumbers, rejectedNumbers } from '../../server/test/support/metadata-numbers.ts'
import { csvLine } from '../src/cli/csv.ts'
import { Progress } from '../src/cli/progress.ts'
import { readTable } from '../src/csv/table.ts'
import type { Lastseen } from '../src/index.ts'
import { newClient } from './support/clients.ts'
import { cliOf, newFolder, run } from './support/cli.ts'

const context = useApp()
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

/** A double holds this integer, but JavaScript writes it as 1152921504606847000. */
const digitsBeyondDouble = ['{"n":1152921504606846976}', 'metadata.n'] as const

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
      expect(imported).toEqual({ kind, dry_run: false, creates: 0, updates: 0, unchanged: 2, failed: 0, errors: [] })
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
      const lines = (text: string): string[] =>
        parseAsDocumented(text)
          .map((row) => JSON.stringify(row))
          .sort()
      expect(lines((await cli.run('export', kind)).stdout)).toEqual(lines(reply.text))
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
    expect(dry).toMatchObject({ dry_run: true, updates: 1, creates: 2, failed: 0 })
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
    expect(await ownCli.json('import', path)).toMatchObject({ creates: 0, updates: 0, unchanged: 3 })
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
    const result = await own.run('import', path, '--concurrency', '1')
    expect(result.code).toBe(1)
    const printed = result.stderr.trimEnd().split('\n')
    expect(printed).toEqual([
      'line 3: external_key: external_key is missing',
      expect.stringMatching(/^line 4: valid_to: .+ \(invalid_value\)$/),
      "line 5: external_key: 'A' occurs in line 2 already",
      expect.stringMatching(/^line 6: \S/),
      'line 9: there are 7 cells under 5 columns',
      expect.stringMatching(/^line 10: name: .+ \(too_long\)$/),
      '2 created, 0 updated, 0 unchanged, 6 with errors',
      '6 of 8 lines have errors',
    ])
    expect(await own.json('assets', 'get', 'D')).toMatchObject({ description: 'two\r\nlines' })
  })

  it('rejects each line with a number in metadata that would be changed, and imports the others [D47]', async () => {
    const own = await cliOf(await context.app.newOrg(), folder)
    const inexact = [...rejectedNumbers.map(([, metadata, field]) => [metadata, field] as const), digitsBeyondDouble]
    const rows = inexact.map(([metadata], index) => csvLine([`BAD-${index}`, 'x', metadata]).trimEnd())
    const path = file('external_key,name,metadata', ...rows, csvLine(['GOOD', 'x', '{"n":1}']))
    const result = await own.run('import', path)
    expect(result.code).toBe(1)
    const printed = result.stderr.trimEnd().split('\n')
    expect(printed.map((line) => line.replace(' (invalid_value)', ''))).toEqual([
      ...inexact.map(
        ([, field], index) => `line ${index + 2}: ${field}: ${field} contains a number that cannot be stored exactly`,
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
    expect(await own.json('import', path)).toMatchObject({ creates: rows.length, failed: 0 })
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

  it('stops at the first row when the credential lacks the scope', async () => {
    const reader = await cliOf(org, folder, ['assets:read'])
    const result = await reader.run('import', file('external_key,name', 'X1,x', 'X2,x'))
    expect(result.code).toBe(1)
    expect(result.stderr).toMatch(/^0 created, 0 updated, 0 unchanged, 0 with errors\n/)
    expect(result.stderr).toContain(
      'The server rejected the request (403 forbidden): Missing required scope: assets:write',
    )
  })

  it('waits for the rate limit and imports every line', async () => {
    const own = await context.app.newOrg()
    const ownCli = await cliOf(own, folder)
    const rows = Array.from({ length: 121 }, (_none, index) => `K${index},Crate ${index}`)
    const result = await ownCli.run('import', file('external_key,name', ...rows), '--concurrency', '8')
    expect(result).toMatchObject({ code: 0, stderr: '121 created, 0 updated, 0 unchanged, 0 with errors\n' })
    expect((await (await newClient(own)).client.assets.list({ limit: 1 })).total_count).toBe(121)
  })
})

describe('CSV', () => {
  it.each([
    ['commas', ','],
    ['semicolons', ';'],
    ['tabs', '\t'],
  ])('is parsed with %s, a byte order mark and column names in any case', (_case, delimiter) => {
    const cells = [
      ['External Key', 'NAME', 'Is Active', 'metadata.Owner', 'RFID', 'tags', 'updated_at'],
      ['A', `"a${delimiter} ""b"""`, 'Yes', 'dock 3', 'E280', 'ble:AA:BB', 'today'],
    ]
    const text = `\uFEFF${cells.map((row) => row.join(delimiter)).join('\r\n')}`
    const { kind, rows } = readTable(text, undefined)
    expect(kind).toBe('assets')
    expect(rows).toEqual([
      {
        line: 2,
        fields: {
          external_key: 'A',
          name: `a${delimiter} "b"`,
          is_active: true,
          metadata: { Owner: 'dock 3' },
          tags: [
            { tag_type: 'rfid', value: 'E280' },
            { tag_type: 'ble', value: 'AA:BB' },
          ],
        },
      },
    ])
  })

  it.each(['\n', '\r\n'])('has line numbers that count blank lines and line breaks inside quotes (%j)', (lineBreak) => {
    const text = ['external_key,description', 'A,"two', 'lines"', '', ',', 'B,x', 'C,x,y'].join(lineBreak)
    const { rows, problems } = readTable(text, undefined)
    expect(rows.map(({ line }) => line)).toEqual([2, 6])
    expect(problems).toEqual([{ line: 7, field: '', message: 'there are 3 cells under 2 columns' }])
  })

  it.each([['plain'], [''], [null], ["'"], ['=1+1'], ['a "b", c'], [' x '], ['two\r\nlines'], ["'-x"], ['\tx']])(
    'encodes %j as documented',
    (value) => {
      const line = csvLine(['first', value, 'last'])
      const [row] = readTable(`external_key,description,name\r\n${line}`, 'assets').rows
      const description = value === null ? {} : { description: value }
      expect(row!.fields).toEqual({ external_key: 'first', ...description, name: 'last' })
      expect(parseAsDocumented(line)[0]!.map(valueAsDocumented)).toEqual(['first', value, 'last'])
    },
  )
})

describe('progress', () => {
  const shown = (isTTY: boolean, steps: readonly number[]): string => {
    let [text, now] = ['', 0]
    const progress = new Progress({ isTTY, write: (more) => (text += more) }, 'Importing', 4, () => now)
    for (const ms of steps) {
      now += ms
      progress.advance()
    }
    progress.end()
    return text
  }

  it('is a bar on a terminal, which is cleared at the end', () => {
    const clear = '\r\u001B[K'
    expect(shown(true, [0, 200, 10])).toBe(
      `${clear}Importing ${'█'.repeat(6)}${'░'.repeat(18)} 1 of 4${clear}Importing ${'█'.repeat(12)}${'░'.repeat(12)} 2 of 4${clear}`,
    )
  })

  it('is a line every five seconds without a terminal, and nothing for short work', () => {
    expect(shown(false, [0, 10, 10])).toBe('')
    expect(shown(false, [0, 6000, 10, 6000])).toBe('Importing: 2 of 4\nImporting: 4 of 4\n')
  })
})
