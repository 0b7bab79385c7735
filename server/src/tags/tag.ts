export const tagTypes = ['rfid', 'ble', 'barcode'] as const

export type TagType = (typeof tagTypes)[number]

/** The maximum number of tags of one asset or location. */
export const maxTagsPerRecord = 100

export interface TagDraft {
  type: TagType
  value: string
}

export interface Tag extends TagDraft {
  id: number
}

/** The record that a tag is attached to. */
export type TagOwner = { assetId: number } | { locationId: number }

/**
 * The form in which two spellings of one physical tag are equal: radio tags regardless of case, Bluetooth addresses
 * also regardless of separators, barcodes exactly as printed.
 */
export function normalizedValue({ type, value }: TagDraft): string {
  if (type === 'barcode') return value
  const folded = value.toLowerCase()
  return type === 'ble' ? folded.replaceAll(/[:-]/g, '') : folded
}

/** Equal for two spellings of one physical tag. */
export const tagKey = (tag: TagDraft): string => `${tag.type} ${normalizedValue(tag)}`
