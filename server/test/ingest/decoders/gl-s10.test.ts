import { describe, expect, it } from 'vitest'
import { decodeJson, EDDYSTONE, EDDYSTONE_AD, glS10Scan, IBEACON, IBEACON_AD, MAC } from './examples.ts'

const device = { ...glS10Scan.dev_list[0] }
const scanOf = (...dev_list: unknown[]) => JSON.stringify({ ...glS10Scan, dev_list })

describe('GL-S10', () => {
  it('reads a device by its address, with the beacon in its advertisement as the other identity', () => {
    expect(decodeJson('gl-s10', glS10Scan)).toEqual({
      reads: [
        {
          tagType: 'ble',
          value: MAC,
          antenna: 1,
          rssiDbm: -61,
          count: 1,
          observedAt: '2026-09-21T14:13:20.250000Z',
          alt: [IBEACON],
        },
      ],
      skipped: 0,
      sentAt: null,
      seq: null,
      warnings: [],
    })
  })

  it('gives each frame of an alternating beacon its own read', () => {
    const decoded = decodeJson('auto', scanOf({ ...device, ad: IBEACON_AD }, { ...device, ad: EDDYSTONE_AD }))
    expect(decoded.reads).toMatchObject([
      { value: MAC, alt: [IBEACON] },
      { value: MAC, alt: [EDDYSTONE] },
    ])
  })

  it.each([['c1:a2:b3:c4:d5:e6'], ['C1-A2-B3-C4-D5-E6'], ['c1a2b3c4d5e6']])('normalises the address %s', (mac) => {
    expect(decodeJson('gl-s10', scanOf({ ...device, mac })).reads[0]?.value).toBe(MAC)
  })

  it.each([
    ['the time since its start, which looks like seconds', 1_790_000_000],
    ['microseconds', 1_790_000_000_250_000],
    ['text', '2026-09-01T08:00:00Z'],
  ])('sets no time when the gateway sends %s', (_case, ts) => {
    expect(decodeJson('gl-s10', scanOf({ ...device, ts })).reads[0]?.observedAt).toBeNull()
  })

  it.each([
    ['zero', 0],
    ['127, which Bluetooth writes for unknown', 127],
    ['empty', ''],
  ])('reports no strength when it is %s', (_case, rssi) => {
    expect(decodeJson('gl-s10', scanOf({ ...device, rssi })).reads[0]?.rssiDbm).toBeNull()
  })

  it('reads a device whose advertisement is broken by its address alone', () => {
    expect(decodeJson('gl-s10', scanOf({ ...device, ad: 'not hex' })).reads).toMatchObject([{ value: MAC, alt: [] }])
  })

  it('names a device by its beacon when it has no address', () => {
    expect(decodeJson('gl-s10', scanOf({ ...device, mac: '' })).reads).toMatchObject([
      { value: IBEACON.value, alt: [] },
    ])
  })

  it('skips and counts a device without any identity', () => {
    const decoded = decodeJson('gl-s10', scanOf({ mac: 'C1A2', rssi: -50 }, { mac: 7 }, null, device))
    expect(decoded).toMatchObject({ reads: [{ value: MAC }], skipped: 3 })
  })

  it('takes an empty scan as a heartbeat', () => {
    expect(decodeJson('auto', scanOf())).toMatchObject({ reads: [], skipped: 0 })
  })
})
