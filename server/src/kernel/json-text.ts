/** `JSON.stringify` prints at most 17 digits, so it rounds some of these integers. Every larger double is an integer. */
const isLargeInteger = (value: number): boolean => Math.abs(value) > Number.MAX_SAFE_INTEGER && Number.isFinite(value)

/** Most responses have no such integer, and `JSON.stringify` is slower with a replacer. */
function hasLargeInteger(value: unknown): boolean {
  if (typeof value === 'number') return isLargeInteger(value)
  if (typeof value !== 'object' || value === null) return false
  for (const key in value) if (hasLargeInteger((value as Record<string, unknown>)[key])) return true
  return false
}

/** No stored string contains NUL, so a string that begins with it is never a value. */
const markedInteger = /"\\u0000(-?\d+)"/g

const markInteger = (_key: string, value: unknown): unknown =>
  typeof value === 'number' && isLargeInteger(value) ? `\0${BigInt(value)}` : value

/**
 * Prints JSON with every digit of an integer. `JSON.stringify` prints at most 17 digits, so that 2^60 becomes
 * 1152921504606847000: the same double, but another number for every reader with longer integers (D47).
 */
export const toJsonText = (value: unknown): string =>
  hasLargeInteger(value) ? JSON.stringify(value, markInteger).replace(markedInteger, '$1') : JSON.stringify(value)
