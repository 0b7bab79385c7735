import { stringify } from 'yaml'

/** The values that a template can read, by name. */
type Scope = Record<string, unknown>

interface Piece {
  text: string
  isAction: boolean
}

/** Splits text and `{{ actions }}`; a dash beside the braces trims the whitespace on that side, as in Go's templates. */
function piecesOf(source: string): Piece[] {
  const parts = source.split(/(\{\{-?[^}]*?-?\}\})/)
  return parts.map((text, index) => {
    if (text.startsWith('{{')) return { text: text.replace(/^\{\{-?\s*|\s*-?\}\}$/g, ''), isAction: true }
    const eatsEnd = parts[index + 1]?.startsWith('{{-') ?? false
    const eatsStart = parts[index - 1]?.endsWith('-}}') ?? false
    const start = eatsStart ? text.trimStart() : text
    return { text: eatsEnd ? start.trimEnd() : start, isAction: false }
  })
}

function valueOf(path: string, scope: Scope): unknown {
  const names = path.replace(/^\$?\./, '$.').split('.')
  let value: unknown = scope
  for (const name of names) {
    if (typeof value !== 'object' || value === null || !(name in value)) throw new Error(`${path} is not there`)
    value = (value as Scope)[name]
  }
  return value
}

/** The text of a value, or of a file of the chart. */
function textOf(expression: string, scope: Scope): string {
  const [, file] = /^\$\.Files\.Get "([^"]+)"$/.exec(expression) ?? []
  if (file !== undefined) return (valueOf('$.Files', scope) as (name: string) => string)(file)
  const [, turned, path = ''] = /^(toYaml )?(\S+)$/.exec(expression) ?? []
  const value = valueOf(path, scope)
  return turned === undefined ? String(value) : stringify(value).trimEnd()
}

/** The functions that the chart uses; any other function is an error. */
function evaluate(expression: string, scope: Scope): string {
  const [first = '', ...filters] = expression.split('|').map((part) => part.trim())
  let text = textOf(first, scope)
  for (const filter of filters) {
    const [, indent] = /^nindent (\d+)$/.exec(filter) ?? []
    if (indent !== undefined) text = `\n${text}`.replaceAll('\n', `\n${' '.repeat(Number(indent))}`)
    else if (filter === 'quote') text = JSON.stringify(text)
    else throw new Error(`the chart uses ${filter}, which this renderer does not know`)
  }
  return text
}

/** Renders the subset of Go's template language that the chart uses: values, `if [not]`, `else`, `range` over a map, `end`. */
export function renderTemplate(source: string, scope: Scope): string {
  const pieces = piecesOf(source)
  let at = 0
  /** Whether the last block ended with `else`. */
  let isElse = false
  const render = (inner: Scope, isShown: boolean): string => {
    let out = ''
    while (at < pieces.length) {
      const { text, isAction } = pieces[at++]!
      if (!isAction) out += isShown ? text : ''
      else if (text === 'end' || text === 'else') {
        isElse = text === 'else'
        return out
      } else if (text.startsWith('if ')) {
        const [, not, path = ''] = /^if (not )?(\S+)$/.exec(text) ?? []
        const value = isShown ? valueOf(path, inner) : false
        const isEmpty = Array.isArray(value) ? value.length === 0 : !value
        const isTrue = isShown && isEmpty !== (not === undefined)
        out += render(inner, isTrue)
        if (isElse) out += render(inner, isShown && !isTrue)
      } else if (text.startsWith('range ')) {
        const [, key = '', value = '', path = ''] = /^range (\S+), (\S+) := (\S+)$/.exec(text) ?? []
        const start = at
        const entries = isShown ? Object.entries(valueOf(path, inner) as Scope) : []
        if (entries.length === 0) render(inner, false)
        for (const [name, one] of entries) {
          at = start
          out += render({ ...inner, [key]: name, [value]: one }, true)
        }
      } else if (isShown) out += evaluate(text, inner)
    }
    return out
  }
  return render(scope, true)
}
