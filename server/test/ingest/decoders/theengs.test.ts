import { describe, expect, it } from 'vitest'
import { decode } from '../../../src/ingest/decoders/index.ts'
import { bytesOf, decodeJson, IBEACON, MAC, theengsDevice, UUID } from './examples.ts'

const MACOS_ID = '8D6F1E1C-0B5B-4E0F-9D5A-0C1D2E3F4A5B'

describe('Theengs Gateway and OpenMQTTGateway', () => {
  it('reads a device, which has no time of its own', () => {
    expect(decodeJson('theengs', theengsDevice, 'home/hall/BTtoMQTT/C1A2B3C4D5E6')).toEqual({
      reads: [{ tagType: 'ble', value: MAC, antenna: 1, rssiDbm: -71, count: 1, observedAt: null, alt: [IBEACON] }],
      skipped: 0,
      sentAt: null,
      seq: null,
      warnings: [],
    })
  })

  it('reads a sensor, which is no beacon', () => {
    const sensor = { id: 'C1:A2:B3:C4:D5:E6', rssi: -71, model_id: 'TH1', tempc: 21.5 }
    expect(decodeJson('auto', sensor).reads).toMatchObject([{ value: MAC, alt: [] }])
  })

  it('takes the address from mac when the gateway names devices by UUID', () => {
    const device = { ...theengsDevice, id: UUID, mac: 'C1:A2:B3:C4:D5:E6' }
    expect(decodeJson('auto', device).reads).toMatchObject([{ value: MAC, alt: [IBEACON] }])
  })

  it('uses only the beacon when macOS generated the id', () => {
    const device = { ...theengsDevice, id: MACOS_ID }
    expect(decodeJson('auto', device).reads).toMatchObject([{ value: IBEACON.value, alt: [] }])
  })

  it('skips and counts a device of which macOS hides the address', () => {
    expect(decodeJson('auto', { id: MACOS_ID, rssi: -50 })).toMatchObject({ reads: [], skipped: 1 })
  })

  it.each([
    ['a major number out of range', { major: 65_536 }],
    ['a minor number that is broken', { minor: 1.5 }],
    ['a UUID that is too short', { uuid: '1122' }],
  ])('ignores a beacon with %s and keeps the address', (_case, change) => {
    expect(decodeJson('auto', { ...theengsDevice, ...change }).reads).toMatchObject([{ value: MAC, alt: [] }])
  })

  it.each([
    ['with a strength', { ...theengsDevice, presence: 'absent' }],
    ['without one', { id: 'C1:A2:B3:C4:D5:E6', presence: 'absent' }],
  ])('ignores an absence %s', (_case, device) => {
    expect(decodeJson('auto', device)).toMatchObject({ reads: [], skipped: 0 })
  })

  it('reads the copy of a device on the presence topic', () => {
    const device = { ...theengsDevice, presence: 'present' }
    expect(decodeJson('auto', device, 'home/TheengsGateway/presence').reads).toMatchObject([{ value: MAC }])
  })

  it.each([['online'], ['offline']])('takes the word %s on the topic of the last will as a heartbeat', (word) => {
    expect(decodeJson('theengs', word, 'home/hall/LWT')).toMatchObject({ reads: [], skipped: 0 })
    expect(decodeJson('auto', word, 'home/hall/LWT')).toMatchObject({ reads: [], skipped: 0 })
    expect(decode('theengs', bytesOf(word), 'home/hall/BTtoMQTT')).toBeNull()
  })

  it('ignores the gateway’s own state', () => {
    expect(decodeJson('theengs', { uptime: 3600, version: '1.2' })).toMatchObject({ reads: [], skipped: 0 })
  })
})
