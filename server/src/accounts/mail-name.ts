const maxLength = 60

/**
 * Makes a name that a tenant chose safe for use in an e-mail: it keeps letters, digits and the punctuation of names, so that
 * the name contains no line break and no address that a mail program turns into a link, and it limits the length.
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
