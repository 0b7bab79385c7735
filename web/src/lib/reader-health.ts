import type { Reader } from '../api/types.ts'
import { ago } from './time.ts'

const quietMs = 15 * 60_000

/** Whether a reader does what it should, judged by when it last spoke. */
export function readerHealth(reader: Reader): { kind: 'good' | 'quiet' | 'new' | 'warning'; words: string } {
  if (reader.last_seen_at === null) return { kind: 'new', words: 'never heard of' }
  if (Date.now() - Date.parse(reader.last_seen_at) > quietMs)
    return { kind: 'quiet', words: `quiet since ${ago(reader.last_seen_at)}` }
  if (reader.warning !== null && reader.warning !== '') return { kind: 'warning', words: reader.warning }
  return { kind: 'good', words: 'reporting' }
}
