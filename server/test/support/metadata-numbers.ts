/** Numbers in metadata that the API and every client either reject or keep unchanged [D47]. */

/** A description, metadata as JSON text, and the path of the rejected number. */
export const rejectedNumbers: [string, string, string][] = [
  ['an integer past the exact ones', '{"n":9007199254740993}', 'metadata.n'],
  ['its negative', '{"n":-9007199254740993}', 'metadata.n'],
  ['an integer with many digits', '{"n":12345678901234567890}', 'metadata.n'],
  ['an integer written with a fraction', '{"n":9007199254740993.0}', 'metadata.n'],
  ['an integer written with an exponent', '{"n":9007199254740993e1}', 'metadata.n'],
  ['a power of ten that a double only comes close to', '{"n":1e23}', 'metadata.n'],
  ['a number too large for a double', '{"n":1e400}', 'metadata.n'],
  ['a number too small for a double', '{"n":1e-400}', 'metadata.n'],
  ['more decimals than a double keeps', '{"n":0.12345678901234567890}', 'metadata.n'],
  ['one deep inside', '{"a":[{"b":1},{"c":[2,9007199254740993]}]}', 'metadata.a[1].c[1]'],
  ['one behind a text that looks like one', '{"s":"9007199254740993 \\" ","n":9007199254740993}', 'metadata.n'],
]

/** A description, a number as JSON text, and its value. */
export const acceptedNumbers: [string, string, unknown][] = [
  ['the largest safe integer', '9007199254740991', 9007199254740991],
  ['an integer past it that a double holds exactly', '9007199254740992', 9007199254740992],
  ['a large power of ten that a double holds exactly', '1e21', 1e21],
  ['the same digit by digit', '1000000000000000000000', 1e21],
  ['a tenth', '0.1', 0.1],
  ['a fraction with as many digits as a double shows', '-0.30000000000000004', -0.30000000000000004],
  ['an integer written with a fraction', '1.0', 1],
  ['an integer written with an exponent', '1e2', 100],
  ['a fraction written with an exponent', '125E-2', 1.25],
  ['trailing zeros', '0.500000000000000000000000', 0.5],
  ['zero with a sign', '-0', 0],
  ['zero with an exponent', '0e999', 0],
  ['the smallest double', '5e-324', 5e-324],
]
