import { describe, expect, it } from 'vitest'
import {
  decodeJson,
  EDDYSTONE,
  EDDYSTONE_AD,
  IBEACON,
  IBEACON_AD,
  MAC,
  mokoNewScan,
  mokoOldScan,
  mokoStatus,
} from './examples.ts'

const oldWith = (value: object) =>
  JSON.stringify({ ...mokoOldScan, data: [{ type: 1, value: { ...mokoOldScan.data[0]?.value, ...value } }] })

describe('MOKO gateways', () => {
  it('reads a scan of old firmware', () => {
    expect(decodeJson('moko', mokoOldScan)).toEqual({
      reads: [
        {
          tagType: 'ble',
          value: MAC,
          antenna: 1,
          rssiDbm: -60,
          count: 1,
          observedAt: '2026-09-01T08:00:05.000000Z',
          alt: [IBEACON],
        },
      ],
      skipped: 0,
      sentAt: null,
      seq: null,
      warnings: [],
    })
  })

  it('reads a scan of new firmware: milliseconds, and beacons in the advertisement and in the response', () => {
    expect(decodeJson('moko', mokoNewScan).reads).toEqual([
      {
        tagType: 'ble',
        value: MAC,
        antenna: 1,
        rssiDbm: -60,
        count: 1,
        observedAt: '2026-09-21T14:13:20.250000Z',
        alt: [IBEACON, EDDYSTONE],
      },
    ])
  })

  it.each([
    ['2026-9-1&8:00:05+00', '2026-09-01T08:00:05.000000Z'],
    ['2026-12-31&23:59:59+08', '2026-12-31T15:59:59.000000Z'],
    ['2026-9-1&8:0:5-5', '2026-09-01T13:00:05.000000Z'],
    ['2026-13-1&8:00:05+00', null],
    ['2026-9-1 8:00:05+00', null],
    ['2026-9-1&8:00:05', null],
    ['1970-1-1&0:00:05+00', null],
  ])('reads the time %s as %s', (timestamp, instant) => {
    expect(decodeJson('moko', oldWith({ timestamp })).reads[0]?.observedAt).toBe(instant)
  })

  it.each([
    ['raw data', IBEACON],
    ['raw', IBEACON],
  ])('finds the beacon in the member %s', (member, beacon) => {
    const value = { uuid: undefined, type: 'Unknown', [member]: IBEACON_AD }
    expect(decodeJson('moko', oldWith(value)).reads[0]?.alt).toEqual([beacon])
  })

  it('names a beacon once when the gateway decoded it and sent it raw as well', () => {
    expect(decodeJson('moko', oldWith({ raw: IBEACON_AD })).reads[0]?.alt).toEqual([IBEACON])
    expect(decodeJson('moko', oldWith({ raw: EDDYSTONE_AD })).reads[0]?.alt).toEqual([IBEACON, EDDYSTONE])
  })

  it.each([[0], [1], [8]])('ignores the numeric type %i', (type) => {
    const payload = { ...mokoOldScan, data: [{ ...mokoOldScan.data[0], type }] }
    expect(decodeJson('moko', JSON.stringify(payload)).reads).toMatchObject([{ value: MAC, alt: [IBEACON] }])
  })

  it.each([
    ['a status, whose data is an object', mokoStatus],
    ['a message of another kind, even with a list', { ...mokoOldScan, msg_id: 3024 }],
    ['an empty scan', { ...mokoOldScan, data: [] }],
  ])('accepts %s as a heartbeat', (_case, payload) => {
    expect(decodeJson('auto', JSON.stringify(payload))).toMatchObject({ reads: [], skipped: 0 })
  })

  it('skips and counts an entry without any identity', () => {
    const data = [{ type: 0, value: { mac: '??', rssi: -50 } }, { type: 0 }, 'x', ...mokoOldScan.data]
    expect(decodeJson('moko', JSON.stringify({ ...mokoOldScan, data }))).toMatchObject({
      reads: [{ value: MAC }],
      skipped: 3,
    })
  })
})
