import { decode, type Decoded, type Format } from '../../../src/ingest/decoders/index.ts'
import { type Json } from '../../../src/kernel/json.ts'

export const EPC = 'E28011700000020A1B2C3D4E'
export const OTHER_EPC = '3035AC1F00000B4000000A11'
export const TID = 'E2801160200072A1B3C40A5F'
export const MAC = 'C1A2B3C4D5E6'
export const UUID = '11223344556677889900AABBCCDDEEFF'
export const IBEACON_AD = `0201061AFF4C000215${UUID}000A0142C5`
export const EDDYSTONE_AD = '0201060303AAFE1516AAFE00E800112233445566778899A1A2A3A4A5A6'
export const IBEACON = { type: 'ble', value: `${UUID}:10:322` }
export const EDDYSTONE = { type: 'ble', value: '00112233445566778899:A1A2A3A4A5A6' }

export const bytesOf = (payload: Json | string): Uint8Array =>
  new TextEncoder().encode(typeof payload === 'string' ? payload : JSON.stringify(payload))

/** Decodes text or JSON and fails the test when the payload is not decodable. */
export function decodeJson(format: Format | 'auto', payload: Json | string, topic: string | null = null): Decoded {
  const decoded = decode(format, bytesOf(payload), topic)
  if (decoded === null) throw new Error('not decodable')
  return decoded
}

/** A long binary frame of Minew: devices with their packets of payload, flags and strength. */
export function minewFrame(readerCache: { mac: string; packets: [string, number, number][] }[]): Uint8Array {
  const body = readerCache.map(({ mac, packets }) => {
    const parts = packets.map(([hex, flags, rssi]) => {
      const payload = Buffer.from(hex, 'hex')
      return Buffer.concat([Buffer.of(payload.length), payload, Buffer.of(flags, rssi & 0xff)])
    })
    return Buffer.concat([Buffer.from(mac, 'hex'), Buffer.of(0, packets.length), ...parts])
  })
  const header = Buffer.alloc(14)
  header.writeUInt16BE(0xbb01, 0)
  Buffer.from('AC233FA0B1C2', 'hex').copy(header, 6)
  header.writeUInt16BE(readerCache.length, 12)
  const frame = Buffer.concat([header, ...body, Buffer.of(0xdd)])
  frame.writeUInt32BE(frame.length, 2)
  return frame
}

export const cslFactory = {
  pcEthernetMACAddress: '00057B112233',
  pcWiFiMACAddress: '',
  timeZone: '+8:00',
  tags: [{ epc: OTHER_EPC, antennaPort: '2', rssi: '-58.5', timeOfRead: '2026/09/01 08:00:00.120' }],
}

export const cslLive = {
  sequenceNumber: 41,
  rfidReaderName: 'dock-3',
  pcEthernetMACAddress: '00057B112233',
  numberOfTags: 1,
  tags: [
    {
      epc: OTHER_EPC,
      timeStampOfRead: 1790000000123456,
      timeZone: '+1:00',
      antennaPort: 2,
      capturePointName: 'dock-3-2',
      rssi: '-58.5',
    },
  ],
}

export const impinjEvent = {
  timestamp: '2026-09-01T08:00:00.120Z',
  hostname: 'impinj-1a-2b-3c',
  eventType: 'tagInventory',
  tagInventoryEvent: {
    epc: '4oARcAAAAgobLD1O',
    epcHex: EPC,
    antennaPort: 3,
    peakRssiCdbm: -5650,
    frequency: 866300,
    lastSeenTime: '2026-09-01T08:00:00.118402155Z',
  },
}

export const impinjStatus = {
  timestamp: '2026-09-01T08:00:00Z',
  hostname: 'impinj-1a-2b-3c',
  eventType: 'antennaConnected',
  antennaConnectedEvent: { antennaPort: 1 },
}

export const zebraEvent = {
  data: {
    MAC: '84:24:8D:01:02:03',
    antenna: 1,
    eventNum: 907,
    format: 'epc',
    idHex: EPC.toLowerCase(),
    peakRssi: -48,
    reads: 4,
  },
  timestamp: '2026-09-01T08:00:00.120+0000',
  type: 'SIMPLE',
}

export const zebraLegacy = {
  reader_name: 'dock-4',
  mac_address: '84:24:8D:01:02:03',
  tag_reads: [
    { epc: EPC, antennaPort: '2', peakRssi: '-51', firstSeenTimestamp: '1790000000123456', seenCount: '6' },
    { isHeartBeat: true },
  ],
}

export const zebraSled = {
  type: 'BALANCED_PERFORMANCE',
  timestamp: '2026-09-01T08:00:00Z',
  data: {
    tagData: [{ EPCid: EPC, peakRssi: -52, seenCount: 3, eventNum: 12 }],
    barcodeData: [{ decodedBarcode: 'SHELF-0042', symbology: 'CODE128' }],
  },
}

export const glS10Scan = {
  dev_id: 'ic00aa11',
  dev_sn: '00112233aabbccdd',
  dev_list: [{ mac: MAC, rssi: -61, ts: 1790000000250, ad: IBEACON_AD }],
}

export const mokoOldScan = {
  msg_id: 3004,
  device_info: { device_id: 'aabbccddeeff', mac: 'AABBCCDDEEFF' },
  data: [
    {
      type: 1,
      value: {
        mac: MAC,
        timestamp: '2026-9-1&8:00:05+00',
        type: 'iBeacon',
        rssi: -60,
        uuid: UUID,
        major: 10,
        minor: 322,
        'rssi@1m': -59,
      },
    },
  ],
}

export const mokoNewScan = {
  msg_id: 3070,
  device_info: { device_id: 'aabbccddeeff', mac: 'AABBCCDDEEFF' },
  data: [{ mac: MAC, rssi: -60, timestamp: 1790000000250, adv_data: EDDYSTONE_AD, rsp_data: IBEACON_AD }],
}

export const mokoStatus = {
  msg_id: 3003,
  device_info: { device_id: 'aabbccddeeff', mac: 'AABBCCDDEEFF' },
  data: { net_state: 'online' },
}

export const minewLong = [
  { timestamp: '2026-09-01T08:00:00.668Z', type: 'Gateway', mac: 'AC233FA0B1C2', gatewayFree: 88, gatewayLoad: 0.03 },
  {
    timestamp: '2026-09-01T08:00:00.640Z',
    type: 'iBeacon',
    mac: MAC,
    bleName: '',
    ibeaconUuid: UUID,
    ibeaconMajor: 10,
    ibeaconMinor: 322,
    rssi: -63,
    ibeaconTxPower: -59,
    battery: 0,
  },
]

export const minewRaw = [
  { gateway: 'AC233FA0B1C2', locator: 'hall-1' },
  { mac: MAC, no: 37, rssi: -70, timestamp: '2026-09-01T08:00:00.640Z' },
]

export const minewBinary = minewFrame([
  {
    mac: MAC,
    packets: [
      [IBEACON_AD, 0x01, -57],
      [EDDYSTONE_AD, 0x00, -49],
    ],
  },
])

export const theengsDevice = {
  id: 'C1:A2:B3:C4:D5:E6',
  mac_type: 1,
  rssi: -71,
  brand: 'GENERIC',
  model: 'iBeacon',
  model_id: 'IBEACON',
  mfid: '4c00',
  uuid: UUID.toLowerCase(),
  major: 10,
  minor: 322,
  txpower: -59,
}

export const genericBatch = {
  reads: [{ tag: EPC, tag_type: 'rfid', antenna: 2, rssi: -57.5, count: 3, observed_at: '2026-09-01T08:00:00.120Z' }],
  sent_at: '2026-09-01T08:00:00.500Z',
  seq: 1841,
}

const lines = (...values: Json[]) => values.map((value) => JSON.stringify(value)).join('\n')

/** One payload of every shape that is recognized, with the format it belongs to. */
export const examples: readonly [name: string, format: Format, bytes: Uint8Array][] = [
  ['the factory form of CSL', 'csl', bytesOf(cslFactory)],
  ['the live form of CSL', 'csl', bytesOf(cslLive)],
  ['an empty CSL message', 'csl', bytesOf({ ...cslLive, numberOfTags: 0, tags: [] })],
  ['an Impinj event', 'impinj', bytesOf(impinjEvent)],
  ['an Impinj webhook', 'impinj', bytesOf([impinjStatus, impinjEvent])],
  ['an Impinj status event', 'impinj', bytesOf(impinjStatus)],
  ['an Impinj stream', 'impinj', bytesOf(lines(impinjEvent, impinjStatus))],
  ['a Zebra event', 'zebra-fixed', bytesOf(zebraEvent)],
  ['a list of Zebra events', 'zebra-fixed', bytesOf([zebraEvent, zebraEvent])],
  ['Zebra events without a separator', 'zebra-fixed', bytesOf(JSON.stringify(zebraEvent).repeat(2))],
  ['the older Zebra form', 'zebra-fixed', bytesOf(zebraLegacy)],
  ['a Zebra sled', 'zebra-handheld', bytesOf(zebraSled)],
  ['a GL-S10 scan', 'gl-s10', bytesOf(glS10Scan)],
  ['an old MOKO scan', 'moko', bytesOf(mokoOldScan)],
  ['a new MOKO scan', 'moko', bytesOf(mokoNewScan)],
  ['a MOKO status', 'moko', bytesOf(mokoStatus)],
  ['Minew JSON-LONG', 'minew', bytesOf(minewLong)],
  ['Minew JSON-RAW', 'minew', bytesOf(minewRaw)],
  ['Minew binary', 'minew', minewBinary],
  ['a Theengs device', 'theengs', bytesOf(theengsDevice)],
  ['a Theengs absence', 'theengs', bytesOf({ id: 'C1:A2:B3:C4:D5:E6', presence: 'absent' })],
  ['a batch of ours', 'generic', bytesOf(genericBatch)],
  ['a bare list of ours', 'generic', bytesOf(genericBatch.reads)],
  ['a single read of ours', 'generic', bytesOf({ tag: EPC })],
  ['a stream of ours', 'generic', bytesOf(lines(genericBatch, { tag: MAC }))],
]
