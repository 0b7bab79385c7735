import { beaconsInHex } from './advertisement.ts'
import { bleTag, dbm, epochInstant } from './normalise.ts'
import { addEach, asList, asObject, nothing, readOf, type Decoder, type JsonObject, type Outcome } from './read.ts'

/** GL.iNet GL-S10. A beacon that alternates between frames is reported once per frame, each with its own identity. */
export const glS10: Decoder = {
  name: 'gl-s10',
  recognizes({ json }) {
    return Array.isArray(asObject(json)?.dev_list)
  },
  decode({ json }) {
    const decoded = nothing()
    addEach(decoded, asList(asObject(json)?.dev_list), readDevice)
    return decoded
  },
}

function readDevice(device: JsonObject): Outcome {
  return readOf([bleTag(device.mac), ...beaconsInHex([device.ad])], {
    rssiDbm: dbm(device.rssi),
    // The unit is fixed: a gateway without a clock sends milliseconds since its start, which could be taken for seconds.
    observedAt: epochInstant(device.ts, 'ms'),
  })
}
