/** The devices readers are known by, and how each is pointed at this server. */
export interface Format {
  value: string
  label: string
  /** Where to go in the device, in the order of its own screens. */
  steps: string
  ways: readonly ('http' | 'mqtt')[]
}

export const formats: readonly Format[] = [
  {
    value: 'generic',
    label: 'Anything that sends JSON',
    steps: 'Send one POST per batch of reads. Only "tag" is required.',
    ways: ['http', 'mqtt'],
  },
  {
    value: 'csl',
    label: 'CSL CS463, CS203X',
    steps: 'In the web page of the reader: Cloud Server → JSON over HTTP. Use the address with the token in it.',
    ways: ['http'],
  },
  {
    value: 'impinj',
    label: 'Impinj R700 and kin',
    steps: 'IoT device interface → Event webhook with the address below, or MQTT with the data below.',
    ways: ['http', 'mqtt'],
  },
  {
    value: 'zebra-fixed',
    label: 'Zebra FX, FXR90, ATR7000',
    steps: 'IoT Connector → Data endpoint: HTTP POST or MQTT, with the data below.',
    ways: ['http', 'mqtt'],
  },
  {
    value: 'zebra-handheld',
    label: 'Zebra RFD40, RFD90',
    steps: '123RFID → IoT Connector → MQTT endpoint with the data below.',
    ways: ['mqtt'],
  },
  {
    value: 'gl-s10',
    label: 'GL.iNet GL-S10',
    steps: 'Gateway page → Bluetooth → MQTT or HTTP, with the data below.',
    ways: ['mqtt', 'http'],
  },
  { value: 'moko', label: 'MOKO MK107, MKGW', steps: 'MKScanner app → MQTT settings.', ways: ['mqtt'] },
  {
    value: 'minew',
    label: 'Minew G1, G2, MG3, MG4',
    steps: 'Gateway page → Service → MQTT or HTTP. JSON and binary both work.',
    ways: ['mqtt', 'http'],
  },
  {
    value: 'theengs',
    label: 'Theengs Gateway, OpenMQTTGateway',
    steps: 'Start the gateway with the MQTT data below.',
    ways: ['mqtt'],
  },
]

export const formatLabel = (value: string): string =>
  value === 'auto' ? 'Recognized by itself' : (formats.find((one) => one.value === value)?.label ?? value)

export const clocks = [
  { value: 'reader', label: 'The stamps of the reader' },
  { value: 'server', label: 'The time of arrival' },
  { value: 'sent_at', label: 'Stamps, corrected by the time of sending' },
]
