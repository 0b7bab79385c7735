import { describe, expect, it } from 'vitest'
import { decode } from '../../../src/ingest/decoders/index.ts'
import { decodeJson, EDDYSTONE, IBEACON, IBEACON_AD, MAC } from './examples.ts'
import { minewBinary, minewFrame, minewLong, minewRaw } from './examples.ts'

const blank = { skipped: 0, sentAt: null, seq: null, warnings: [] }
const longWith = (record: object) => JSON.stringify([minewLong[0], { ...minewLong[1], ...record }])

describe('Minew JSON', () => {
  it('reads JSON-LONG', () => {
    expect(decodeJson('minew', JSON.stringify(minewLong))).toEqual({
      ...blank,
      reads: [
        {
          tagType: 'ble',
          value: MAC,
          antenna: 1,
          rssiDbm: -63,
          count: 1,
          observedAt: '2026-09-01T08:00:00.640000Z',
          alt: [IBEACON],
        },
      ],
    })
  })

  it('finds the beacon in raw data', () => {
    const payload = longWith({ type: 'Unknown', ibeaconUuid: undefined, rawData: IBEACON_AD })
    expect(decodeJson('auto', payload).reads[0]?.alt).toEqual([IBEACON])
  })

  it('reads JSON-RAW, whose member no is a channel and not an antenna', () => {
    expect(decodeJson('auto', JSON.stringify(minewRaw))).toMatchObject({
      reads: [{ value: MAC, antenna: 1, rssiDbm: -70, observedAt: '2026-09-01T08:00:00.640000Z' }],
      skipped: 0,
    })
  })

  it('reports the number of the message', () => {
    expect(decodeJson('minew', JSON.stringify([{ ...minewLong[0], seq: 12 }])).seq).toBe(12)
  })

  it('takes a gateway without devices as a heartbeat', () => {
    expect(decodeJson('auto', JSON.stringify([minewLong[0]]))).toMatchObject({ reads: [], skipped: 0 })
  })

  it('skips and counts a record without any identity', () => {
    const payload = JSON.stringify([minewLong[0], { mac: 'short', rssi: -1 }, 3, minewLong[1]])
    expect(decodeJson('minew', payload)).toMatchObject({ reads: [{ value: MAC }], skipped: 2 })
  })
})

describe('Minew binary', () => {
  const read = { tagType: 'ble', antenna: 1, observedAt: null }

  it('folds the packets of a device into one read with the strongest signal', () => {
    expect(decode('auto', minewBinary, null)).toEqual({
      ...blank,
      reads: [{ ...read, value: MAC, rssiDbm: -49, count: 2, alt: [IBEACON, EDDYSTONE] }],
    })
  })

  it('continues after packets without payload, and accepts random addresses', () => {
    const frame = minewFrame([
      { mac: '001122334455', packets: [['', 0x05, -49]] },
      { mac: 'FFEEDDCCBBAA', packets: [['02010A', 0x06, 0]] },
    ])
    expect(decode('minew', frame, null)).toEqual({
      ...blank,
      reads: [
        { ...read, value: '001122334455', rssiDbm: -49, count: 1, alt: [] },
        { ...read, value: 'FFEEDDCCBBAA', rssiDbm: null, count: 1, alt: [] },
      ],
    })
  })

  it('reads a frame that lies inside a larger buffer', () => {
    const buffer = new Uint8Array(minewBinary.length + 7)
    buffer.set(minewBinary, 5)
    expect(decode('auto', buffer.subarray(5, -2), null)?.reads).toMatchObject([{ value: MAC }])
  })

  it('takes a frame without devices as a heartbeat', () => {
    expect(decode('auto', minewFrame([]), null)).toEqual({ ...blank, reads: [] })
  })

  it('counts a device without packets as unreadable', () => {
    expect(decode('auto', minewFrame([{ mac: MAC, packets: [] }]), null)).toEqual({ ...blank, reads: [], skipped: 1 })
  })

  it('keeps the devices before a device that exceeds the frame and counts the others', () => {
    const device = { mac: MAC, packets: [[IBEACON_AD, 0, -50]] as [string, number, number][] }
    const frame = minewFrame([device, device, device])
    const second = 14 + 8 + 1 + IBEACON_AD.length / 2 + 2
    frame[second + 7] = 9
    expect(decode('auto', frame, null)).toMatchObject({ reads: [{ value: MAC }], skipped: 2 })
  })

  it('counts the devices that a frame announces but does not contain', () => {
    const frame = Uint8Array.from(minewFrame([{ mac: MAC, packets: [['', 0, -50]] }])).with(13, 4)
    expect(decode('auto', frame, null)).toMatchObject({ reads: [{ value: MAC }], skipped: 3 })
  })

  it.each([
    ['another header', (frame: Uint8Array) => frame.with(1, 0x07)],
    ['a length that is not its own', (frame: Uint8Array) => frame.with(5, 0)],
    ['another tail', (frame: Uint8Array) => frame.with(frame.length - 1, 0)],
    ['an end too early', (frame: Uint8Array) => frame.subarray(0, 14)],
  ])('rejects a frame with %s', (_case, change) => {
    expect(decode('minew', change(Uint8Array.from(minewBinary)), null)).toBeNull()
    expect(decode('auto', change(Uint8Array.from(minewBinary)), null)).toBeNull()
  })
})
