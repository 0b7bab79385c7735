import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csvLine } from '../../src/bulk/csv.ts'
import { CsvReader, type TableRow } from '../../src/bulk/csv-table.ts'
import { longestTickMs } from '../support/event-loop.ts'
import { parseCsv as parseAsDocumented, valueOf as valueAsDocumented } from '../support/csv.ts'

/** Reads a file that arrives in pieces of this length. */
function read(text: string, pieceLength = text.length, options = {}): TableRow[] {
  const reader = new CsvReader('assets', options)
  const rows: TableRow[] = []
  for (let start = 0; start < text.length; start += pieceLength)
    rows.push(...reader.push(text.slice(start, start + pieceLength)))
  return [...rows, ...reader.end()]
}

describe('A CSV file', () => {
  it.each([
    ['commas', ','],
    ['semicolons', ';'],
    ['tabs', '\t'],
  ])('is parsed with %s, a byte order mark and column names in any case', (_case, delimiter) => {
    const cells = [
      ['External Key', 'NAME', 'Is Active', 'metadata.Owner', 'RFID', 'tags', 'updated_at'],
      ['A', `"a${delimiter} ""b"""`, 'Yes', 'dock 3', 'E280', 'ble:AA:BB', 'today'],
    ]
    expect(read(`\uFEFF${cells.map((row) => row.join(delimiter)).join('\r\n')}`)).toEqual([
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
    expect(read(text)).toMatchObject([
      { line: 2 },
      { line: 6 },
      { line: 7, field: '', message: 'there are 3 cells under 2 columns' },
    ])
  })

  it('may have quotes within a cell that is not quoted', () => {
    const rows = read('external_key,name,description\nA,5" pipe,x\nB,"6"" pipe",y\nC,"a\nb",z\n')
    expect(rows.map((row) => 'fields' in row && row.fields['name'])).toEqual(['5" pipe', '6" pipe', 'a\nb'])
  })

  it.each([['plain'], [''], [null], ["'"], ['=1+1'], ['a "b", c'], [' x '], ['two\r\nlines'], ["'-x"], ['\tx']])(
    'with the value %j is read as it was exported',
    (value) => {
      const line = csvLine(['first', value, 'last'])
      const description = value === null ? {} : { description: value }
      const fields = { external_key: 'first', ...description, name: 'last' }
      expect(read(`external_key,description,name\r\n${line}`)).toEqual([{ line: 2, fields }])
      expect(parseAsDocumented(line)[0]!.map(valueAsDocumented)).toEqual(['first', value, 'last'])
    },
  )

  it('is read the same, however it is cut into pieces', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', ',', ';', '"', '\n', '\r\n', ' ', 'ü'), maxLength: 8 })
    const property = fc.property(fc.array(fc.tuple(cell, cell)), fc.integer({ min: 1, max: 30 }), (cells, length) => {
      const rows = cells.map(([name, description], at) => csvLine([`K${at}`, name, description])).join('')
      const text = `external_key,name,description\r\n${rows}`
      const whole = read(text)
      expect(whole.map((row) => 'fields' in row && [row.fields['name'], row.fields['description']])).toEqual(cells)
      expect(read(text, length)).toEqual(whole)
    })
    fc.assert(property)
  })

  it('keeps no more of a record than its limit, and reads the records after it', () => {
    const text = `external_key,name\nA,a\nB,"${'x\n'.repeat(100)}"\nC,c\n`
    for (const length of [1, 7, 64, 1000])
      expect(read(text, length, { maxRecordLength: 100, tooLong: 'too long' }), String(length)).toMatchObject([
        { line: 2 },
        { line: 3, message: 'too long' },
        { line: 104 },
      ])
  })
})

describe('The columns of a CSV file', () => {
  const members = (count: number): string[] => Array.from({ length: count }, (_, index) => `metadata.m${index}`)

  it('are at most 1,100', () => {
    const header = (count: number) => ['external_key', ...members(count - 1)].join(',')
    expect(read(`${header(1100)}\nA`)).toEqual([{ line: 2, fields: { external_key: 'A' } }])
    expect(() => read(`${header(1101)}\nA`)).toThrow('line 1: a file has at most 1100 columns, this one has 1101')
  })

  it('of a header line of almost 1 MiB are rejected at once', async () => {
    const text = `external_key,${members(64_000).join(',')}\n`
    expect(text.length).toBeGreaterThan(0.95 * 2 ** 20)
    expect(await longestTickMs(() => expect(() => read(text, 65_536)).toThrow('1100 columns'))).toBeLessThan(1000)
  })

  it('take no time for the rows that have no cell for them', async () => {
    const timeOf = (columns: number): Promise<number> => {
      const reader = new CsvReader('assets')
      expect([...reader.push(`external_key,${members(columns).join(',')}\n`)]).toEqual([])
      return longestTickMs(() => expect([...reader.push('K\n'.repeat(20_000))]).toHaveLength(20_000))
    }
    await timeOf(1)
    expect(await timeOf(1000)).toBeLessThan(3 * (await timeOf(1)) + 20)
  })
})
