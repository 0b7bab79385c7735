/** One statement, or a piece of one, with its values apart from its text. */
export class Sql {
  readonly strings: TemplateStringsArray
  readonly parameters: readonly unknown[]

  constructor(strings: TemplateStringsArray, holes: readonly unknown[]) {
    this.strings = strings
    this.parameters = holes
  }

  /** The templates this statement is put together from, so that a check can tell which of them ever ran. */
  get templates(): TemplateStringsArray[] {
    return [this.strings, ...this.parameters.flatMap((hole) => (hole instanceof Sql ? hole.templates : []))]
  }
}

/** Values become parameters; nested pieces become text with their own parameters. */
export const sql = (strings: TemplateStringsArray, ...holes: readonly unknown[]): Sql => new Sql(strings, holes)

/** Templates without a text of their own, by how many holes they have; each is the same object every time. */
const blanks: TemplateStringsArray[] = []

function emptyTemplate(holes: number): TemplateStringsArray {
  const known = blanks[holes]
  if (known !== undefined) return known
  const texts = Array.from({ length: holes + 1 }, () => '')
  return (blanks[holes] = Object.assign(texts, { raw: texts }))
}

export function join(pieces: readonly Sql[], separator: Sql): Sql {
  const holes: Sql[] = []
  for (const piece of pieces) {
    if (holes.length > 0) holes.push(separator)
    holes.push(piece)
  }
  return new Sql(emptyTemplate(holes.length), holes)
}

let shapes = 0

/** Stands in a shape for any value. */
const value = Symbol('value')

/**
 * A statement's shape is the order of its templates and values. Shapes form a tree with one step per template and per
 * value; a text stands where a shape ends, made once in the life of the process.
 */
class StatementTemplate {
  text: string | null = null
  /** The name of the prepared statement with this text. */
  readonly name = `s${++shapes}`
  readonly #next = new Map<TemplateStringsArray | typeof value, StatementTemplate>()

  step(to: TemplateStringsArray | typeof value): StatementTemplate {
    let next = this.#next.get(to)
    if (next === undefined) this.#next.set(to, (next = new StatementTemplate()))
    return next
  }
}

const nothing = new StatementTemplate()

function walk(piece: Sql, from: StatementTemplate, values: unknown[]): StatementTemplate {
  let shape = from.step(piece.strings)
  for (const hole of piece.parameters) {
    if (hole instanceof Sql) {
      shape = walk(hole, shape, values)
      continue
    }
    if (hole === undefined) throw new TypeError('a value of a statement is undefined')
    values.push(hole)
    shape = shape.step(value)
  }
  return shape
}

function write(piece: Sql, counter: { count: number }): string {
  let text = piece.strings[0] ?? ''
  piece.parameters.forEach((hole, index) => {
    text += hole instanceof Sql ? write(hole, counter) : `$${++counter.count}`
    text += piece.strings[index + 1] ?? ''
  })
  return text
}

/** The text with `$1`, `$2`, …, the values that belong to them, and a name: every connection prepares a text once. */
export function render(statement: Sql): { name: string; text: string; values: unknown[] } {
  const values: unknown[] = []
  const shape = walk(statement, nothing, values)
  shape.text ??= write(statement, { count: 0 })
  return { name: shape.name, text: shape.text, values }
}
