export const tagTypes = [
  { value: 'rfid', label: 'RFID' },
  { value: 'ble', label: 'BLE' },
  { value: 'barcode', label: 'Barcode' },
]

export const tagLabel = (type: string): string => tagTypes.find((one) => one.value === type)?.label ?? type
