import { barcodeTag, dbm, readCount, rfidTag, textInstant } from './normalise.ts'
import { addEach, asList, asObject, nothing, readOf, type Decoder } from './read.ts'

/**
 * Zebra RFD40 and RFD90 sleds. A message may contain tags and barcodes, which share the time of the message. It may be old,
 * because a sled buffers messages while it is offline.
 */
export const zebraHandheld: Decoder = {
  name: 'zebra-handheld',
  recognizes({ json }) {
    const data = asObject(asObject(json)?.data)
    return Array.isArray(data?.tagData) || Array.isArray(data?.barcodeData)
  },
  decode({ json }) {
    const decoded = nothing()
    const message = asObject(json)
    const data = asObject(message?.data)
    const observedAt = textInstant(message?.timestamp)
    addEach(decoded, asList(data?.tagData), (tag) =>
      readOf([rfidTag(tag.EPCid) ?? rfidTag(tag.EPC), rfidTag(tag.TID)], {
        rssiDbm: dbm(tag.peakRssi),
        count: readCount(tag.seenCount),
        observedAt,
      }),
    )
    addEach(decoded, asList(data?.barcodeData), (scan) => readOf([barcodeTag(scan.decodedBarcode)], { observedAt }))
    return decoded
  },
}
