/** The array types our statements use, by their element's, as PostgreSQL numbers them. */
const arrayTypes = { bigint: 1016, integer: 1007, text: 1009, uuid: 2951, timestamptz: 1185 }

function toLiteral(values: readonly (string | number | null)[]): string {
  const items = values.map((value) => (value === null ? 'NULL' : `"${String(value).replaceAll(/[\\"]/g, '\\$&')}"`))
  return `{${items.join(',')}}`
}

/** One-dimensional arrays of text come back as PostgreSQL writes them: `{plain,"quoted, \"so\"",NULL}`. */
function fromLiteral(literal: string): (string | null)[] {
  const items: (string | null)[] = []
  for (const [, quoted, plain] of literal.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/gs))
    items.push(plain === undefined ? (quoted ?? '').replaceAll(/\\(.)/gs, '$1') : plain === 'NULL' ? null : plain)
  return items
}

/**
 * Tells the driver about arrays. It could ask the database itself, at every connection; but a connection cut during that
 * question leaves a rejection nobody can handle.
 */
export const arrays = Object.fromEntries(
  Object.entries(arrayTypes).map(([name, oid]) => [
    `${name}_array`,
    { to: oid, from: [oid], serialize: toLiteral, parse: fromLiteral },
  ]),
)
