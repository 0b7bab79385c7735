/** JavaScript parses every JSON number as a double, which changes many numbers. */

const QUOTE = 0x22
const BACKSLASH = 0x5c
const DASH = 0x2d
const ZERO = 0x30

const isDigit = (unit: number): boolean => unit >= ZERO && unit <= 0x39

/** A digit, the decimal point, the exponent or its sign. */
const isNumberPart = (unit: number): boolean =>
  isDigit(unit) || unit === 0x2e || unit === 0x65 || unit === 0x45 || unit === 0x2b || unit === DASH

/** A number with at most 15 digits and no exponent never changes. */
const mayBeChanged = /\d[\d.]{15}|\d[eE]/

/**
 * Replaces each number that a double cannot represent exactly with a literal that is parsed as Infinity, or as -Infinity if
 * the number is not an integer. No field accepts either value, so the number is rejected instead of changed. The text must
 * be valid JSON.
 */
export function markInexactNumbers(text: string): string {
  if (!mayBeChanged.test(text)) return text
  let marked = ''
  let end = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) {
      for (at++; text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++
    } else if (unit === DASH || isDigit(unit)) {
      const start = at
      while (isNumberPart(text.charCodeAt(at + 1))) at++
      const mark = markFor(text.slice(start, at + 1))
      if (mark === null) continue
      marked += text.slice(end, start) + mark
      end = at + 1
    }
  }
  return marked + text.slice(end)
}

/** Returns the replacement, or null for a number that a double represents exactly. */
function markFor(literal: string): string | null {
  if (!mayBeChanged.test(literal)) return null
  const value = Math.abs(Number(literal))
  const { digits, exponent } = decimalOf(literal)
  if (digits === '') return null
  if (exponent < 0) return printsAs(value, digits, exponent) ? null : '-1e999'
  const isExact = Number.isFinite(value) && BigInt(value) === BigInt(digits) * 10n ** BigInt(exponent)
  return isExact ? null : '1e999'
}

/** True if JavaScript prints the double as this decimal number. A printed double has at most 17 digits. */
function printsAs(value: number, digits: string, exponent: number): boolean {
  if (digits.length > 17) return false
  const printed = decimalOf(String(value))
  return printed.digits === digits && printed.exponent === exponent
}

/** The absolute value as `digits` times ten to the `exponent`, without leading or trailing zeros. Zero has no digits. */
function decimalOf(literal: string): { digits: string; exponent: number } {
  const [mantissa = '', power = '0'] = (literal.startsWith('-') ? literal.slice(1) : literal).toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const all = whole + fraction
  let start = 0
  let end = all.length
  while (all.charCodeAt(start) === ZERO) start++
  while (end > start && all.charCodeAt(end - 1) === ZERO) end--
  return { digits: all.slice(start, end), exponent: Number(power) - fraction.length + all.length - end }
}
