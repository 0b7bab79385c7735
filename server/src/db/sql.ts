/** A statement or a fragment of one, with its values separate from its text. */
export class Sql {
  readonly strings: TemplateStringsArray
  readonly parameters: readonly unknown[]

  constructor(strings: TemplateStringsArray, parameters: readonly unknown[]) {
    this.strings = strings
    this.parameters = parameters
  }

  /** The templates that make up this statement; the tests use them to check that every template was run. */
  get templates(): TemplateStringsArray[] {
    return [
      this.strings,
      ...this.parameters.flatMap((parameter) => (parameter instanceof Sql ? parameter.templates : [])),
    ]
  }
}

/** Values become parameters; nested fragments become text with their own parameters. */
export const sql = (strings: TemplateStringsArray, ...parameters: readonly unknown[]): Sql =>
  new Sql(strings, parameters)

/** Templates without text, by their number of parameters. Each is created once, so that it can serve as a map key. */
const emptyTemplates: TemplateStringsArray[] = []

function emptyTemplate(parameterCount: number): TemplateStringsArray {
  const existing = emptyTemplates[parameterCount]
  if (existing !== undefined) return existing
  const texts = Array.from({ length: parameterCount + 1 }, () => '')
  return (emptyTemplates[parameterCount] = Object.assign(texts, { raw: texts }))
}

export function join(fragments: readonly Sql[], separator: Sql): Sql {
  const parameters: Sql[] = []
  for (const fragment of fragments) {
    if (parameters.length > 0) parameters.push(separator)
    parameters.push(fragment)
  }
  return new Sql(emptyTemplate(parameters.length), parameters)
}

let templateCount = 0

/** The step in the template tree for any value. */
const value = Symbol('value')

/**
 * A node in the tree of statement templates. The path to a node is the sequence of templates and values of a statement;
 * the rendered text is cached in the last node for the lifetime of the process.
 */
class StatementTemplate {
  text: string | null = null
  /** The name of the prepared statement with this text. */
  readonly name = `s${++templateCount}`
  readonly #next = new Map<TemplateStringsArray | typeof value, StatementTemplate>()

  step(to: TemplateStringsArray | typeof value): StatementTemplate {
    let next = this.#next.get(to)
    if (next === undefined) this.#next.set(to, (next = new StatementTemplate()))
    return next
  }
}

const root = new StatementTemplate()

/** Finds the statement's node in the tree and collects its values. */
function walk(fragment: Sql, from: StatementTemplate, values: unknown[]): StatementTemplate {
  let template = from.step(fragment.strings)
  for (const parameter of fragment.parameters) {
    if (parameter instanceof Sql) {
      template = walk(parameter, template, values)
      continue
    }
    if (parameter === undefined) throw new TypeError('a parameter of a statement is undefined')
    values.push(parameter)
    template = template.step(value)
  }
  return template
}

function renderText(fragment: Sql, counter: { count: number }): string {
  let text = fragment.strings[0] ?? ''
  fragment.parameters.forEach((parameter, index) => {
    text += parameter instanceof Sql ? renderText(parameter, counter) : `$${++counter.count}`
    text += fragment.strings[index + 1] ?? ''
  })
  return text
}

/** The text with `$1`, `$2`, …, the values, and a name, so that every connection prepares each text once. */
export function render(statement: Sql): { name: string; text: string; values: unknown[] } {
  const values: unknown[] = []
  const template = walk(statement, root, values)
  template.text ??= renderText(statement, { count: 0 })
  return { name: template.name, text: template.text, values }
}
