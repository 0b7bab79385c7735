/** The supported devices and how each of them is configured. */
export interface DeviceFormat {
  value: string
  label: string
  /** The configuration steps, in the order of the device's own screens. */
  steps: string
  transports: readonly ('http' | 'mqtt')[]
}

export const formats: readonly DeviceFormat[] = [
  {
    value: 'generic',
    label: 'Any device that sends JSON',
    steps: 'Send one POST per batch of reads. Only "tag" is required.',
    transports: ['http', 'mqtt'],
  },
  {
    value: 'csl',
    label: 'CSL CS463, CS203X',
    steps: 'On the web page of the reader: Cloud Server → JSON over HTTP. Use the URL that contains the token.',
    transports: ['http'],
  },
  {
    value: 'impinj',
    label: 'Impinj R700 series',
    steps: 'IoT device interface → Event webhook with the URL below, or MQTT with the settings below.',
    transports: ['http', 'mqtt'],
  },
  {
    value: 'zebra-fixed',
    label: 'Zebra FX, FXR90, ATR7000',
    steps: 'IoT Connector → Data endpoint: HTTP POST or MQTT, with the settings below.',
    transports: ['http', 'mqtt'],
  },
  {
    value: 'zebra-handheld',
    label: 'Zebra RFD40, RFD90',
    steps: '123RFID → IoT Connector → MQTT endpoint with the settings below.',
    transports: ['mqtt'],
  },
  {
    value: 'gl-s10',
    label: 'GL.iNet GL-S10',
    steps: 'Gateway page → Bluetooth → MQTT or HTTP, with the settings below.',
    transports: ['mqtt', 'http'],
  },
  { value: 'moko', label: 'MOKO MK107, MKGW', steps: 'MKScanner app → MQTT settings.', transports: ['mqtt'] },
  {
    value: 'minew',
    label: 'Minew G1, G2, MG3, MG4',
    steps: 'Gateway page → Service → MQTT or HTTP. JSON and binary both work.',
    transports: ['mqtt', 'http'],
  },
  {
    value: 'theengs',
    label: 'Theengs Gateway, OpenMQTTGateway',
    steps: 'Start the gateway with the MQTT settings below.',
    transports: ['mqtt'],
  },
]

export const formatLabel = (value: string): string =>
  value === 'auto' ? 'Detected automatically' : (formats.find((one) => one.value === value)?.label ?? value)

export const timeSources = [
  { value: 'reader', label: 'Timestamps of the reader' },
  { value: 'server', label: 'Time of arrival at the server' },
  { value: 'sent_at', label: 'Timestamps of the reader, corrected by the time of sending' },
]
