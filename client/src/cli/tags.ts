import type { TagAttach } from '../types.ts'
import { UsageError } from './problems.ts'

const types = ['rfid', 'ble', 'barcode']

export const tagText = ({ tag_type: type, value }: TagAttach): string => `${type}:${value}`

/** `rfid:E280…`; the type ends at the first colon. */
export function tagFrom(text: string): TagAttach {
  const mark = text.indexOf(':')
  if (mark < 1 || mark === text.length - 1) throw new UsageError(`'${text}' is not a tag such as rfid:E280…`)
  return { tag_type: text.slice(0, mark), value: text.slice(mark + 1) }
}

/** As a CSV cell has them, one in a line. What has no type of ours before it is an RFID value. */
export const tagsFromCell = (cell: string): TagAttach[] =>
  cell
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .map((line) =>
      types.some((type) => line.startsWith(`${type}:`)) ? tagFrom(line) : { tag_type: 'rfid', value: line },
    )

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
