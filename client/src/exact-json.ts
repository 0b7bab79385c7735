/** JavaScript reads every JSON number as a double, which changes numbers with too many digits. */

/** The text holds a number that would be sent as another one. */
export class InexactNumberError extends Error {
  /** Where the number is, such as `metadata.sizes[1]`. */
  readonly path: string

  constructor(path: string) {
    super(`${path} contains a number that cannot be stored exactly`)
    this.path = path
  }
}

/** Strings are matched whole, so that digits inside them are not taken for numbers. */
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g

/**
 * Reads JSON that is to be sent to the server; errors name its value `path`. Throws an InexactNumberError on a number that
 * JSON.stringify would write with another value, and a SyntaxError on a text that is not JSON.
 */
export function parseExactJson(text: string, path: string): unknown {
  const value: unknown = JSON.parse(text)
  // 1e999 is read as Infinity, which no number that is kept is.
  const marked = text.replaceAll(stringOrNumber, (one) => (one.startsWith('"') || isKept(one) ? one : '1e999'))
  const changed = pathOfInfinity(JSON.parse(marked), path)
  if (changed !== null) throw new InexactNumberError(changed)
  return value
}

const isKept = (literal: string): boolean => decimalOf(literal) === decimalOf(JSON.stringify(Number(literal)))

/** The same text for all literals of one value: 1.50, 15e-1 and 1.5 are 15e-1. The sign is left out. */
function decimalOf(literal: string): string {
  const [, whole = '', fraction = '', power = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE](.+))?$/.exec(literal) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  return `${significant}e${Number(power) - fraction.length + digits.length - significant.length}`
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
