import type { TagAttach } from '../types.ts'
import { UsageError } from './problems.ts'

export const tagText = ({ tag_type: type, value }: TagAttach): string => `${type}:${value}`

/** `rfid:E280…`; the type ends at the first colon. */
export function tagFrom(text: string): TagAttach {
  const mark = text.indexOf(':')
  if (mark < 1 || mark === text.length - 1) throw new UsageError(`'${text}' is not a tag such as rfid:E280…`)
  return { tag_type: text.slice(0, mark), value: text.slice(mark + 1) }
}

/** RFID and BLE values are the same in capitals and small letters, and BLE also without `:` and `-`. */
function print({ tag_type: type, value }: TagAttach): string {
  if (type === 'barcode') return tagText({ tag_type: type, value })
  const lower = value.toLowerCase()
  return tagText({ tag_type: type, value: type === 'ble' ? lower.replace(/[:-]/g, '') : lower })
}

/** The tags that are not there yet. */
export function missingTags(wanted: readonly TagAttach[], present: readonly TagAttach[]): TagAttach[] {
  const prints = new Set(present.map(print))
  return wanted.filter((tag) => !prints.has(print(tag)))
}
