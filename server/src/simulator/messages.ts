/** One read, independent of the vendor's format. */
export interface SimulatedRead {
  epc: string
  mac: string
  antenna: number
  rssiDbm: number
  atMs: number
}

const iso = (ms: number): string => new Date(ms).toISOString()
const centi = (dbm: number): number => Math.round(dbm * 100)

/** The message body in each vendor's format. BLE gateways have one antenna, so there is one gateway per location. */
export const messages: Record<string, (reads: readonly SimulatedRead[], gateway: string) => string> = {
  generic: (reads) =>
    JSON.stringify({
      reads: reads.map((read) => ({
        tag: read.epc,
        tag_type: 'rfid',
        antenna: read.antenna,
        rssi: read.rssiDbm,
        observed_at: iso(read.atMs),
      })),
    }),
  csl: (reads, gateway) =>
    JSON.stringify({
      sequenceNumber: 1,
      rfidReaderName: gateway,
      pcEthernetMACAddress: '',
      numberOfTags: reads.length,
      tags: reads.map((read) => ({
        epc: read.epc,
        timeStampOfRead: read.atMs * 1000,
        timeZone: '+0:00',
        antennaPort: read.antenna,
        rssi: String(read.rssiDbm),
      })),
    }),
  impinj: (reads, gateway) =>
    JSON.stringify(
      reads.map((read) => ({
        timestamp: iso(read.atMs),
        hostname: gateway,
        eventType: 'tagInventory',
        tagInventoryEvent: {
          epcHex: read.epc,
          antennaPort: read.antenna,
          peakRssiCdbm: centi(read.rssiDbm),
          lastSeenTime: iso(read.atMs),
        },
      })),
    ),
  'zebra-fixed': (reads) =>
    JSON.stringify(
      reads.map((read) => ({
        data: {
          antenna: read.antenna,
          eventNum: 1,
          format: 'epc',
          idHex: read.epc.toLowerCase(),
          peakRssi: read.rssiDbm,
        },
        timestamp: iso(read.atMs).replace('Z', '+0000'),
        type: 'SIMPLE',
      })),
    ),
  'zebra-handheld': (reads) =>
    JSON.stringify({
      type: 'BALANCED_PERFORMANCE',
      timestamp: iso(reads[0]!.atMs),
      data: { tagData: reads.map((read) => ({ EPCid: read.epc, peakRssi: read.rssiDbm, seenCount: 1 })) },
    }),
  'gl-s10': (reads, gateway) =>
    JSON.stringify({
      dev_id: gateway,
      dev_sn: '0',
      dev_list: reads.map((read) => ({ mac: read.mac, rssi: read.rssiDbm, ts: read.atMs, ad: '020106' })),
    }),
  moko: (reads) =>
    JSON.stringify({
      msg_id: 3070,
      device_info: { device_id: 'aabbccddeeff', mac: 'AABBCCDDEEFF' },
      data: reads.map((read) => ({ mac: read.mac, rssi: read.rssiDbm, timestamp: read.atMs, adv_data: '020106' })),
    }),
  minew: (reads) =>
    JSON.stringify([
      { timestamp: iso(reads[0]!.atMs), type: 'Gateway', mac: 'AC233FA0B1C2' },
      ...reads.map((read) => ({
        timestamp: iso(read.atMs),
        type: 'Unknown',
        mac: read.mac,
        rssi: read.rssiDbm,
        rawData: '020106',
      })),
    ]),
}

/** Formats in which all reads of a message share its time, so each read is sent separately. */
export const singleFormats: ReadonlySet<string> = new Set(['zebra-handheld'])

/** Formats in which a read names its antenna. */
export const antennaFormats: ReadonlySet<string> = new Set(['generic', 'csl', 'impinj', 'zebra-fixed'])
