const maxLength = 60

/**
 * A name that a tenant chose, as it may stand in a mail of the service: letters, digits and the punctuation of names, and so
 * no line break, no address that a mail program turns into a link, and no more than a line.
 */
export function mailName(name: string): string {
  const plain = name
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N}&'’.,()+-]+/gu, ' ')
    .replaceAll(/\.(?=[\p{L}\p{N}])/gu, ' ')
    .trim()
  const characters = Array.from(plain)
  return characters.length <= maxLength ? plain : `${characters.slice(0, maxLength).join('').trimEnd()}…`
}
