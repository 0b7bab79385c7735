/** A number of 17 digits or more, or one with an exponent, as `JSON.stringify` prints it: some of its digits are rounded. */
const mayBeRounded = /[:[,]-?\d(?:\d{16}|[\d.]*e\+)/

/** No stored string contains NUL, so a string that begins with it is never a value. */
const markedInteger = /"\\u0000(-?\d+)"/g

const markInteger = (_key: string, value: unknown): unknown =>
  typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) ? `\0${BigInt(value)}` : value

/**
 * Prints JSON with every digit of an integer. `JSON.stringify` prints at most 17 digits, so that 2^60 becomes
 * 1152921504606847000: the same double, but another number for every reader with longer integers (D47).
 */
export function toJsonText(value: unknown): string {
  const text = JSON.stringify(value)
  return mayBeRounded.test(text) ? JSON.stringify(value, markInteger).replace(markedInteger, '$1') : text
}
