import type { TagAttach } from '../types.ts'
import { UsageError } from './errors.ts'

export const formatTag = ({ tag_type: type, value }: TagAttach): string => `${type}:${value}`

/** Parses `rfid:E280…`; the type ends at the first colon. */
export function parseTag(text: string): TagAttach {
  const colon = text.indexOf(':')
  if (colon < 1 || colon === text.length - 1) throw new UsageError(`'${text}' is not a tag such as rfid:E280…`)
  return { tag_type: text.slice(0, colon), value: text.slice(colon + 1) }
}
