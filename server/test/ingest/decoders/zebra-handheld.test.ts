import { describe, expect, it } from 'vitest'
import { decodeJson, EPC, TID, zebraSled } from './examples.ts'

const sledWith = (data: object) => JSON.stringify({ ...zebraSled, data })

describe('Zebra handhelds', () => {
  it('reads tags and barcodes of one message, all at the time of the message', () => {
    const observedAt = '2026-09-01T08:00:00.000000Z'
    expect(decodeJson('zebra-handheld', zebraSled)).toEqual({
      reads: [
        { tagType: 'rfid', value: EPC, antenna: 1, rssiDbm: -52, count: 3, observedAt, alt: [] },
        { tagType: 'barcode', value: 'SHELF-0042', antenna: 1, rssiDbm: null, count: 1, observedAt, alt: [] },
      ],
      skipped: 0,
      sentAt: null,
      seq: null,
      warnings: [],
    })
  })

  it('keeps an old time, because a sled sends reads that it stored while offline', () => {
    const payload = { ...zebraSled, timestamp: '2025-12-24T08:00:00Z' }
    expect(decodeJson('zebra-handheld', payload).reads[0]?.observedAt).toBe('2025-12-24T08:00:00.000000Z')
  })

  it('accepts the other label of the EPC and keeps the TID', () => {
    expect(decodeJson('zebra-handheld', sledWith({ tagData: [{ EPC, TID }] })).reads).toMatchObject([
      { value: EPC, alt: [{ type: 'rfid', value: TID }] },
    ])
  })

  it('names a tag by its TID when only that is reported', () => {
    expect(decodeJson('auto', sledWith({ tagData: [{ TID, eventNum: 1 }] })).reads).toMatchObject([{ value: TID }])
  })

  it('keeps a barcode exactly as it was printed', () => {
    const codes = [' a b ', 'ABC-abc', '0012', 'Größe ✓', 'x'.repeat(255), '✓'.repeat(255), '😀'.repeat(255)]
    const barcodeData = codes.map((decodedBarcode) => ({ decodedBarcode }))
    expect(decodeJson('auto', sledWith({ barcodeData })).reads.map(({ value }) => value)).toEqual(codes)
  })

  it.each([
    ['empty', ''],
    ['too long', 'x'.repeat(256)],
    ['holding a line break', 'A\n'],
    ['holding half a character', '\ud800'],
    ['a number', 42],
    ['missing', undefined],
  ])('skips and counts a barcode that is %s', (_case, decodedBarcode) => {
    const barcodeData = [{ decodedBarcode }, { decodedBarcode: 'SHELF-1' }]
    expect(decodeJson('zebra-handheld', sledWith({ barcodeData }))).toMatchObject({
      reads: [{ value: 'SHELF-1' }],
      skipped: 1,
    })
  })

  it('skips and counts a tag record without any identity', () => {
    expect(decodeJson('zebra-handheld', sledWith({ tagData: [{ eventNum: 4 }] }))).toMatchObject({
      reads: [],
      skipped: 1,
    })
  })

  it('takes a message with empty lists as a heartbeat', () => {
    expect(decodeJson('auto', sledWith({ tagData: [], barcodeData: [] }))).toMatchObject({ reads: [], skipped: 0 })
  })
})
