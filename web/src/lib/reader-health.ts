import type { Reader } from '../api/types.ts'
import { duration } from './time.ts'

const silentAfterMs = 15 * 60_000

/** The health of a reader, from the time of its last message and its warnings. */
export function readerHealth(reader: Reader): { kind: 'good' | 'silent' | 'new' | 'warning'; label: string } {
  if (reader.last_seen_at === null) return { kind: 'new', label: 'never connected' }
  const silentMs = Date.now() - Date.parse(reader.last_seen_at)
  if (silentMs > silentAfterMs)
    return { kind: 'silent', label: `silent for ${duration(Math.floor(silentMs / 60_000) * 60)}` }
  if (reader.warning !== null && reader.warning !== '') return { kind: 'warning', label: reader.warning }
  return { kind: 'good', label: 'reporting' }
}
