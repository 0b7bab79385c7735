import { type Sql, join, sql } from '../db/sql.ts'
import { foldCase } from './record.ts'

const tailLength = 6
const maxPatterns = 4

const likePattern = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`

/**
 * Parts of the term that the trigram index finds, those that probably match the fewest records first: numbers before words,
 * long parts before short ones. The end of a long code varies most, so it precedes the whole code. A term without three
 * consecutive letters or digits has no such part.
 */
export function indexedParts(term: string): string[] {
  const words = term.match(/[\p{L}\p{N}]{3,}/gu) ?? []
  const ends = words.map((word) => Array.from(word).slice(-tailLength).join(''))
  const rank = (text: string): number => text.length + (/\p{N}/u.test(text) ? term.length : 0)
  const byRarity = (texts: readonly string[]): string[] => texts.toSorted((a, b) => rank(b) - rank(a))
  return [...new Set([...byRarity(ends), ...byRarity(words)])].slice(0, maxPatterns)
}

/**
 * Whether the search text of `of` contains the term. The trigram index reads the lists of all trigrams of one pattern, and
 * those of the next pattern only where the previous ones match. With the whole term as the only pattern, the index would
 * read the lists of its most frequent trigrams completely.
 */
export function contains(of: Sql, term: string): Sql {
  const text = foldCase(term)
  const patterns = indexedParts(text).map((part) => sql`${of}.search_text like ${likePattern(part)}`)
  return join([...patterns, sql`strpos(${of}.search_text, ${text}) > 0`], sql` and `)
}
