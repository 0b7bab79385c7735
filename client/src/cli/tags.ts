import type { TagAttach } from '../types.ts'
import { UsageError } from './errors.ts'

export const formatTag = ({ tag_type: type, value }: TagAttach): string => `${type}:${value}`

/** Parses `rfid:E280…`; the type ends at the first colon. */
export function parseTag(text: string): TagAttach {
  const colon = text.indexOf(':')
  if (colon < 1 || colon === text.length - 1) throw new UsageError(`'${text}' is not a tag such as rfid:E280…`)
  return { tag_type: text.slice(0, colon), value: text.slice(colon + 1) }
}

/** RFID and BLE values are case-insensitive, and BLE values may contain `:` and `-`. */
function normalizeTag({ tag_type: type, value }: TagAttach): string {
  if (type === 'barcode') return formatTag({ tag_type: type, value })
  const lower = value.toLowerCase()
  return formatTag({ tag_type: type, value: type === 'ble' ? lower.replace(/[:-]/g, '') : lower })
}

/** The wanted tags that are not attached yet. */
export function missingTags(wanted: readonly TagAttach[], present: readonly TagAttach[]): TagAttach[] {
  const attached = new Set(present.map(normalizeTag))
  return wanted.filter((tag) => !attached.has(normalizeTag(tag)))
}
