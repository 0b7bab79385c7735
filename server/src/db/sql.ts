/** One statement, or a piece of one, with its values apart from its text. */
export interface Sql {
  readonly chunks: readonly string[]
  readonly values: readonly unknown[]
  /** The templates this text was put together from, so that a check can tell which of them ever ran. */
  readonly templates: readonly TemplateStringsArray[]
}

function isSql(value: unknown): value is Sql {
  return typeof value === 'object' && value !== null && 'templates' in value
}

/** Values become parameters; nested pieces become text with their own parameters. */
export function sql(strings: TemplateStringsArray, ...values: readonly unknown[]): Sql {
  if (!values.some(isSql)) return { chunks: strings, values, templates: [strings] }
  const chunks: string[] = [strings[0] ?? '']
  const flat: unknown[] = []
  const templates: TemplateStringsArray[] = [strings]
  values.forEach((value, index) => {
    const after = strings[index + 1] ?? ''
    if (!isSql(value)) {
      flat.push(value)
      chunks.push(after)
      return
    }
    const [first = '', ...others] = value.chunks
    chunks.push((chunks.pop() ?? '') + first, ...others)
    chunks.push((chunks.pop() ?? '') + after)
    flat.push(...value.values)
    templates.push(...value.templates)
  })
  return { chunks, values: flat, templates }
}

export function join(pieces: readonly Sql[], separator: Sql): Sql {
  return pieces.reduce((all, piece, index) => (index === 0 ? piece : sql`${all}${separator}${piece}`), sql``)
}

const texts = new WeakMap<readonly string[], string>()

/** The text with `$1`, `$2`, …; a template without pieces is rendered once in the life of the process. */
export function textOf(statement: Sql): string {
  const known = texts.get(statement.chunks)
  if (known !== undefined) return known
  let text = statement.chunks[0] ?? ''
  for (let index = 1; index < statement.chunks.length; index++) text += `$${index}${statement.chunks[index]}`
  texts.set(statement.chunks, text)
  return text
}
