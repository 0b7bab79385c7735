/** The array types our statements use, as PostgreSQL numbers them; elements come back as text or as numbers. */
const textArrays = { text: 1009, uuid: 2951, timestamptz: 1185 }
const numberArrays = { bigint: 1016, integer: 1007 }

const special = /[\\"]/
const quoted = (text: string): string => `"${special.test(text) ? text.replaceAll(/[\\"]/g, '\\$&') : text}"`

function toLiteral(values: readonly (string | number | null)[]): string {
  let literal = '{'
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!
    if (index > 0) literal += ','
    literal += value === null ? 'NULL' : typeof value === 'string' ? quoted(value) : String(value)
  }
  return `${literal}}`
}

/** One-dimensional arrays of text come back as PostgreSQL writes them: `{plain,"quoted, \"so\"",NULL}`. */
function fromLiteral(literal: string): (string | null)[] {
  const items: (string | null)[] = []
  for (const [, quoted, plain] of literal.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/gs))
    items.push(plain === undefined ? (quoted ?? '').replaceAll(/\\(.)/gs, '$1') : plain === 'NULL' ? null : plain)
  return items
}

const numbers = (literal: string): (number | null)[] =>
  fromLiteral(literal).map((item) => (item === null ? null : Number(item)))

const driverTypes = (oids: Record<string, number>, parse: (literal: string) => unknown[]) =>
  Object.entries(oids).map(([name, oid]) => [`${name}_array`, { to: oid, from: [oid], serialize: toLiteral, parse }])

/**
 * Tells the driver about arrays. It could ask the database itself, at every connection; but a connection cut during that
 * question leaves a rejection nobody can handle.
 */
export const arrays = Object.fromEntries([
  ...driverTypes(textArrays, fromLiteral),
  ...driverTypes(numberArrays, numbers),
]) as Record<string, { to: number; from: number[]; serialize: typeof toLiteral; parse: typeof fromLiteral }>
