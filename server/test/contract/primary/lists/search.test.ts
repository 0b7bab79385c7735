import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../../support/app.ts'
import type { Client } from '../../../support/client.ts'
import {
  type Kind,
  type RecordJson,
  create,
  expectValidationError,
  keysOf,
  remove,
} from '../../../support/master-data.ts'
import { propertyRuns } from '../../../support/rounds.ts'

const context = useApp()
const kinds: [Kind][] = [['assets'], ['locations']]

describe.each(kinds)('searching %s with q (D26)', (kind) => {
  const path = `/api/v1/${kind}`
  let client: Client

  const found = async (q: string, more = '', who = client): Promise<string[]> => {
    const reply = await who.get(path, `q=${encodeURIComponent(q)}${more}`)
    expect(reply.status, reply.text).toBe(200)
    expect(reply.json.total_count).toBe(reply.json.data.length)
    return keysOf(reply)
  }

  beforeAll(async () => {
    client = (await context.app.newOrg()).full
    const other = (await context.app.newOrg()).full
    const tag = (value: string): object => ({ tags: [{ tag_type: 'barcode', value }] })
    const rows: [key: string, name: string, more?: object][] = [
      ['Key-Alpha', 'Forklift', { description: 'parked at the Harbour' }],
      ['K2', 'Hand truck 100%', tag('Label_7')],
      ['K3', 'back\\slash'],
      ['K4', 'under_score'],
      ['K5', 'underXscore 100 percent'],
      ['K6', 'ÄRGER straße Łódź ЖУК'],
      ['K7', 'ΟΔΟΣΑ'],
      ['K8', 'İstanbul ẞ', { description: 'two\nlines' }],
      ['K9', '東京 🚚', { is_active: false }],
    ]
    for (const [external_key, name, more] of rows) {
      await create(client, kind, { external_key, name, ...more })
      await create(other, kind, { external_key, name, ...more })
    }
  })

  it.each([
    ['the name', 'orkli', ['Key-Alpha']],
    ['the external_key', 'y-alp', ['Key-Alpha']],
    ['the description', 'harbour', ['Key-Alpha']],
    ['a tag value', 'label_7', ['K2']],
    ['a whole name', 'Forklift', ['Key-Alpha']],
    ['another case', 'fORKLIFT', ['Key-Alpha']],
    ['one letter', 'f', ['Key-Alpha']],
    ['two letters', 'TR', ['K2', 'K6']],
    ['a letter of a key', 'k', ['K2', 'K3', 'K4', 'K5', 'K6', 'K7', 'K8', 'K9', 'Key-Alpha']],
    ['a percent sign, an ordinary character', '%', ['K2']],
    ['a percent sign between letters', 'F%t', []],
    ['an underscore, an ordinary character', '_', ['K2', 'K4']],
    ['an underscore between letters', 'under_score', ['K4']],
    ['a backslash, an ordinary character', '\\', ['K3']],
    ['a backslash before a wildcard', '\\%', []],
    ['two backslashes', '\\\\', []],
    ['an umlaut in lower case', 'ärger', ['K6']],
    ['a Polish word in upper case', 'ŁÓDŹ', ['K6']],
    ['a Cyrillic word in lower case', 'жук', ['K6']],
    ['ß unchanged', 'straße', ['K6']],
    ['a capital ẞ in lower case', 'ß', ['K6', 'K8']],
    ['a substring of a Greek word', 'ΟΔΟΣ', ['K7']],
    ['a Greek word in lower case with a medial sigma', 'οδοσ', ['K7']],
    ['a Greek word in lower case with a final sigma', 'οδος', ['K7']],
    ['a whole Greek word', 'οδοσα', ['K7']],
    ['a lone capital sigma', 'Σ', ['K7']],
    ['a dotted capital I unchanged', 'İSTAN', ['K8']],
    ['characters without case', '東', ['K9']],
    ['an emoji', '🚚', ['K9']],
    ['a space between words', 'd t', ['K2']],
    ['nothing with an extra trailing space', 'Forklift ', []],
    ['a quote', "'", []],
    ['a pattern of another language', '.*', []],
    ['nothing that is anywhere', 'zzz', []],
    ['the longest term there may be', 'x'.repeat(255), []],
  ])('finds %s', async (_what, q, keys) => {
    expect(await found(q)).toEqual(keys)
  })

  it('is at most 255 characters long, counted in code points [D52]', async () => {
    for (const text of ['x'.repeat(255), '😀'.repeat(255)])
      expect((await client.get(path, { q: text })).json).toMatchObject({ total_count: 0 })
    for (const text of ['x'.repeat(256), '😀'.repeat(256)])
      expectValidationError(await client.get(path, { q: text }), ['q', 'too_long', { max_length: 255 }])
  })

  it('matches everything when it is empty', async () => {
    expect(await found('')).toHaveLength(9)
    expect((await client.get(path, 'q')).json.total_count).toBe(9)
    expect((await client.get(path, 'q=&is_active=false')).json.total_count).toBe(1)
  })

  it('reads a plus as a space and %2B as a plus', async () => {
    const mine = (await context.app.newOrg()).full
    await create(mine, kind, { external_key: 'BLANK', name: 'one two' })
    await create(mine, kind, { external_key: 'PLUS', name: 'one+two' })
    expect(keysOf(await mine.get(path, 'q=one+two'))).toEqual(['BLANK'])
    expect(keysOf(await mine.get(path, 'q=one%20two'))).toEqual(['BLANK'])
    expect(keysOf(await mine.get(path, 'q=one%2Btwo'))).toEqual(['PLUS'])
  })

  it('does not match across two fields, nor in other fields', async () => {
    const mine = (await context.app.newOrg()).full
    const tags = [
      { tag_type: 'barcode', value: 'gh' },
      { tag_type: 'rfid', value: 'ij' },
    ]
    const row = await create(mine, kind, { external_key: 'cd', name: 'ab', description: 'ef', tags })
    const texts = ['ab', 'cd', 'ef', 'gh', 'ij']
    for (const left of texts)
      for (const right of texts)
        if (left !== right) for (const glue of ['', ' ']) expect(await found(left + glue + right, '', mine)).toEqual([])
    for (const q of [String(row.id), 'barcode', 'rfid', 'true', 'null', row.created_at.slice(0, 10)])
      expect(await found(q, '', mine)).toEqual([])
    if (kind === 'assets') {
      await create(mine, kind, { external_key: 'META', name: 'x', metadata: { colour: 'crimson' } })
      expect(await found('crimson', '', mine)).toEqual([])
    } else {
      await create(mine, 'locations', { external_key: 'CHILD', name: 'x', parent_id: row.id })
      expect(await found('cd', '', mine)).toEqual(['cd'])
    }
  })

  it('follows every write of the record at once', async () => {
    const mine = (await context.app.newOrg()).full
    const row = await create(mine, kind, { external_key: 'old-key', name: 'old-name', description: 'old-text' })
    const one = `${path}/${row.id}`
    await mine.patch(one, { name: 'new-name', description: 'new-text' })
    await mine.post(`${one}/rename`, { external_key: 'new-key' })
    for (const q of ['old-key', 'old-name', 'old-text']) expect(await found(q, '', mine)).toEqual([])
    for (const q of ['NEW-KEY', 'NEW-NAME', 'NEW-TEXT']) expect(await found(q, '', mine)).toEqual(['new-key'])
    await mine.patch(one, { description: null })
    expect(await found('new-text', '', mine)).toEqual([])
  })

  it('finds a tag while it is attached', async () => {
    const mine = (await context.app.newOrg()).full
    const row = await create(mine, kind, { external_key: 'K', name: 'n', tags: [{ tag_type: 'rfid', value: 'First' }] })
    const attached = await mine.post(`${path}/${row.id}/tags`, { tag_type: 'ble', value: 'AA:BB' })
    expect(await found('first', '', mine)).toEqual(['K'])
    expect(await found('aa:bb', '', mine)).toEqual(['K'])
    await mine.delete(`${path}/${row.id}/tags/${row.tags[0]!.id}`)
    expect(await found('first', '', mine)).toEqual([])
    expect(await found('aa:bb', '', mine)).toEqual(['K'])
    await mine.delete(`${path}/${row.id}/tags/${attached.json.data.id}`)
    expect(await found('aa:bb', '', mine)).toEqual([])
    await mine.patch(`${path}/${row.id}`, { name: 'touched' })
    expect(await found('first', '', mine)).toEqual([])
  })

  it('finds a deleted record by its texts with include_deleted, but not by its former tags', async () => {
    const mine = (await context.app.newOrg()).full
    const row = await create(mine, kind, {
      external_key: 'K',
      name: 'needle',
      tags: [{ tag_type: 'rfid', value: 'TAG-1' }],
    })
    await remove(mine, kind, row.id)
    expect(await found('needle', '', mine)).toEqual([])
    expect(await found('needle', '&include_deleted=true', mine)).toEqual(['K'])
    expect(await found('tag-1', '&include_deleted=true', mine)).toEqual([])
  })

  it('pages through its matches with their count on every page', async () => {
    const pages = []
    for (const offset of [0, 3, 6, 9])
      pages.push(await client.get(path, { q: 'K', limit: 3, offset, sort: '-external_key' }))
    expect(pages.map((page) => page.json.total_count)).toEqual([9, 9, 9, 9])
    expect(pages.flatMap(keysOf)).toEqual(['Key-Alpha', 'K9', 'K8', 'K7', 'K6', 'K5', 'K4', 'K3', 'K2'])
    expect(keysOf(pages[3]!)).toEqual([])
  })

  it('finds any name by any substring of it, in any case', async () => {
    const mine = (await context.app.newOrg()).full
    const row: RecordJson = await create(mine, kind, { external_key: '#', name: 'start' })
    const letters = fc.constantFrom(...Array.from('aZ %_\\éÉßΣσςİıЖ東🚚ﬁ'))
    const names = fc.string({ unit: letters, minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(names, fc.nat(), fc.nat(), async (name, from, length) => {
        expect((await mine.patch(`${path}/${row.id}`, { name })).status).toBe(200)
        const points = Array.from(name)
        const start = from % points.length
        const piece = points.slice(start, start + 1 + (length % (points.length - start))).join('')
        expect(await found(piece, '', mine)).toEqual(['#'])
        const swapped = piece.replaceAll(/[aZéÉЖжÅå]/g, (c) =>
          c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase(),
        )
        expect(await found(swapped, '', mine)).toEqual(['#'])
      }),
      { numRuns: propertyRuns(60) },
    )
  })
})
