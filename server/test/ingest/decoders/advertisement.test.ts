import { describe, expect, it } from 'vitest'
import { beaconsInHex } from '../../../src/ingest/decoders/advertisement.ts'
import { EDDYSTONE, EDDYSTONE_AD, IBEACON, IBEACON_AD, UUID } from './examples.ts'

const IBEACON_DATA = `4C000215${UUID}000A0142C5`

describe('an advertisement', () => {
  it('names an iBeacon by UUID, major and minor', () => {
    expect(beaconsInHex([IBEACON_AD])).toEqual([IBEACON])
    expect(beaconsInHex([IBEACON_AD.toLowerCase()])).toEqual([IBEACON])
  })

  it('reads major and minor over their whole range', () => {
    expect(beaconsInHex([`1AFF4C000215${UUID}FFFF0000C5`])).toEqual([{ type: 'ble', value: `${UUID}:65535:0` }])
  })

  it('names an Eddystone by namespace and instance, with or without the reserved bytes', () => {
    expect(beaconsInHex([EDDYSTONE_AD])).toEqual([EDDYSTONE])
    const reserved = EDDYSTONE_AD.replace('1516AAFE', '1716AAFE')
    expect(beaconsInHex([`${reserved}0000`])).toEqual([EDDYSTONE])
  })

  it('puts the iBeacon first, in any order of the frames', () => {
    expect(beaconsInHex([EDDYSTONE_AD, IBEACON_AD])).toEqual([IBEACON, EDDYSTONE])
  })

  it.each([
    ['a zero length', `00${IBEACON_AD}`],
    ['a length that exceeds the data', `0201061BFF${IBEACON_DATA}`],
    ['an earlier length that exceeds the data', `FF0106${IBEACON_AD}`],
    ['half a byte', IBEACON_AD.slice(0, -1)],
    ['a letter that is not hex', `${IBEACON_AD.slice(0, -1)}G`],
    ['no text', ''],
    ['a number', 42],
    ['nothing', undefined],
    ['another manufacturer', `1AFF4D000215${UUID}000A0142C5`],
    ['another kind of structure', `1A16${IBEACON_DATA}`],
    ['an iBeacon without its last byte', `19FF${IBEACON_DATA.slice(0, -2)}`],
    ['an Eddystone address of the web', '0303AAFE0D16AAFE10E8036578616D706C6507'],
    ['an Eddystone that ends early', '1416AAFE00E800112233445566778899A1A2A3A4A5'],
  ])('holds no beacon with %s', (_case, advertisement) => {
    expect(beaconsInHex([advertisement])).toEqual([])
  })
})
