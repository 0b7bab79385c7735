/** JavaScript parses every JSON number as a double, which changes numbers with too many digits. */

/** The JSON text contains a number that JavaScript cannot represent exactly. */
export class InexactNumberError extends Error {
  /** The path of the number, such as `metadata.sizes[1]`. */
  readonly path: string

  constructor(path: string) {
    super(`${path} contains a number that cannot be stored exactly`)
    this.path = path
  }
}

/** Strings are matched as a whole, so that digits inside them do not count as numbers. */
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g

/**
 * Parses JSON that will be sent to the server. Throws an InexactNumberError when JSON.stringify would write a number with
 * another value, and a SyntaxError when the text is not JSON. `path` is the name of the value in errors.
 */
export function parseExactJson(text: string, path: string): unknown {
  const value: unknown = JSON.parse(text)
  // Inexact numbers are replaced by 1e999, which is parsed as Infinity and thus can be found in the value.
  const marked = text.replaceAll(stringOrNumber, (token) => (token.startsWith('"') || isExact(token) ? token : '1e999'))
  const inexactPath = pathOfInfinity(JSON.parse(marked), path)
  if (inexactPath !== null) throw new InexactNumberError(inexactPath)
  return value
}

const isExact = (literal: string): boolean =>
  normalizeDecimal(literal) === normalizeDecimal(JSON.stringify(Number(literal)))

/** Returns the same text for all literals of one value: 1.50, 15e-1 and 1.5 become 15e-1. The sign is dropped. */
function normalizeDecimal(literal: string): string {
  const [, integer = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE](.+))?$/.exec(literal) ?? []
  const digits = (integer + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}

function pathOfInfinity(value: unknown, path: string): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : path
  if (typeof value !== 'object' || value === null) return null
  for (const [key, member] of Object.entries(value)) {
    const found = pathOfInfinity(member, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`)
    if (found !== null) return found
  }
  return null
}
