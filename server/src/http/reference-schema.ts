/** Any JSON object of the document; every part is optional and is checked while it is read. */
export type Dict = Record<string, unknown>

export const dict = (value: unknown): Dict =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Dict) : {}
export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const text = (value: unknown): string => (typeof value === 'string' ? value : '')
export const each = <T>(items: Iterable<T>, render: (item: T) => string): string => Array.from(items, render).join('')

/** Every value of the document passes through here, so markup in it shows as text. */
export const esc = (value: unknown): string =>
  String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const inline = (value: string): string => esc(value).replace(/`([^`]+)`/g, '<code>$1</code>')
const shown = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

export const chip = (value: unknown, kind = ''): string => `<code class="chip ${kind}">${esc(shown(value))}</code>`
export const fold = (title: string, body: string): string =>
  body && `<details class="fold"><summary>${title}</summary>${body}</details>`
export const table = (rows: string, label: string): string =>
  rows && `<div class="scroll"><table aria-label="${esc(label)}"><tbody>${rows}</tbody></table></div>`

/** Reads blank lines as paragraph breaks, leading dashes as a list and backticks as code; nothing else is markup. */
export function prose(value: unknown): string {
  const parts = text(value)
    .trim()
    .split(/\n\s*\n/)
  return each(parts.filter(Boolean), (part) =>
    /^[-*] /.test(part)
      ? `<ul>${each(part.split(/^[-*] /m).slice(1), (item) => `<li>${inline(item.trim())}</li>`)}</ul>`
      : `<p>${inline(part)}</p>`,
  )
}

/** Colours JSON; between its tokens JSON has only brackets, commas and spaces, which need no escaping. */
export function json(value: unknown): string {
  if (typeof value === 'string') return esc(value)
  const tokens = /("(?:\\.|[^"\\])*")(:?)|[\w.+-]+/g
  return (JSON.stringify(value, null, 2) ?? '').replace(tokens, (token: string, quoted?: string, colon?: string) => {
    const kind = quoted ? (colon ? 'key' : 'str') : 'lit'
    return `<span class="${kind}">${esc(quoted ?? token)}</span>${colon ?? ''}`
  })
}

/** Follows local references for at most 16 steps, so a loop of references ends as an empty object. */
export function resolve(doc: Dict, node: unknown, steps = 16): Dict {
  const ref = dict(node).$ref
  if (typeof ref !== 'string') return dict(node)
  if (steps === 0 || !ref.startsWith('#/')) return {}
  let target: unknown = doc
  for (const part of ref.slice(2).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    target = Object.hasOwn(dict(target), key) ? dict(target)[key] : undefined
  }
  return resolve(doc, target, steps - 1)
}

/** Resolves a schema and merges its allOf parts, so that readers see one list of fields. */
export function schemaOf(doc: Dict, node: unknown, seen: Dict[] = []): Dict {
  const own = resolve(doc, node)
  if (!Array.isArray(own.allOf) || seen.includes(own)) return own
  const { allOf, ...rest } = own
  const parts: Dict[] = [...list(allOf).map((part) => schemaOf(doc, part, [...seen, own])), rest]
  const properties = new Map<string, unknown>()
  for (const [name, next] of parts.flatMap((part) => Object.entries(dict(part.properties)))) {
    properties.set(name, properties.has(name) ? { allOf: [properties.get(name), next] } : next)
  }
  const merged = Object.assign({}, ...parts) as Dict
  const required = parts.flatMap((part) => list(part.required))
  return { ...merged, required, ...(properties.size > 0 && { properties: Object.fromEntries(properties) }) }
}

const variantsOf = (schema: Dict): unknown[] => [...list(schema.oneOf), ...list(schema.anyOf)]

/** Names a schema by its component, also when a single allOf part only wraps that component. */
export function nameOf(node: unknown): string {
  const parts = list(dict(node).allOf)
  const ref = dict(parts.length === 1 ? parts[0] : node).$ref
  return text(ref).split('/').pop() ?? ''
}

export function typeOf(doc: Dict, node: unknown, depth = 0): string {
  const schema = schemaOf(doc, node)
  const inner = (child: unknown) => (depth > 3 ? '…' : typeOf(doc, child, depth + 1))
  const fields = Object.keys(dict(schema.properties)).length
  const others = dict(schema.additionalProperties)
  let type = text(schema.type) || (fields ? 'object' : 'any value')
  if (schema.items) type = `array of ${inner(schema.items)}`
  else if (variantsOf(schema).length) type = nameOf(node) || variantsOf(schema).map(inner).join(' or ')
  else if (fields) type = nameOf(node) || type
  else if (Object.keys(others).length) type = `map of ${inner(others)}`
  if (schema.format) type += ` (${shown(schema.format)})`
  return schema.nullable === true ? `${type} or null` : type
}

function range(low: unknown, high: unknown, unit: string): string {
  if (low === undefined && high === undefined) return ''
  if (low === high) return `exactly ${shown(low)}${unit}`
  if (high === undefined) return `at least ${shown(low)}${unit}`
  return low === undefined ? `at most ${shown(high)}${unit}` : `${shown(low)} to ${shown(high)}${unit}`
}

function limitsOf(schema: Dict): string[] {
  return [
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minItems, schema.maxItems, ' items'),
    range(schema.minProperties, schema.maxProperties, ' keys'),
    range(schema.minimum, schema.maximum, ''),
    schema.exclusiveMinimum === true ? 'lower limit excluded' : '',
    schema.exclusiveMaximum === true ? 'upper limit excluded' : '',
    schema.multipleOf === undefined ? '' : `multiple of ${shown(schema.multipleOf)}`,
    schema.uniqueItems === true ? 'no duplicates' : '',
    schema.readOnly === true ? 'read only' : '',
    schema.writeOnly === true ? 'write only' : '',
  ].filter(Boolean)
}

/** One line of a parameter, header or field table; the owner's description wins over the schema's. */
export function row(doc: Dict, name: string, node: unknown, owner: Dict, stack: Dict[] = []): string {
  const schema = schemaOf(doc, node)
  const item = schema.items ? schemaOf(doc, schema.items) : schema
  const growing = list(item['x-extensible-enum'])
  const values = growing.length ? growing : list(item.enum)
  const limits = item === schema ? limitsOf(schema) : [...limitsOf(schema), ...limitsOf(item)]
  const type = `<span class="type">${esc(typeOf(doc, node))}</span>`
  const marks =
    (owner.required === true ? ' <span class="need">required</span>' : '') +
    (owner.deprecated === true || schema.deprecated === true ? ' <span class="old">deprecated</span>' : '')
  const facts = [
    values.length > 0 && `${growing.length ? 'Values, may grow' : 'One of'}: ${values.map((v) => chip(v)).join(' ')}`,
    item.pattern !== undefined && `Pattern: ${chip(item.pattern)}`,
    schema.default !== undefined && `Default: ${chip(schema.default)}`,
  ]
  const nested = fold(`Fields of ${esc(nameOf(schema.items ?? node) || name)}`, fieldsOf(doc, node, stack))
  return [
    `<tr><th scope="row"><code>${esc(name)}</code>${marks}</th><td><p class="line">`,
    [type, ...limits.map((limit) => `<span>${esc(limit)}</span>`)].join(' <i>·</i> '),
    `</p>${prose(owner.description ?? schema.description)}`,
    each(facts, (fact) => (fact ? `<p class="fact">${fact}</p>` : '')),
    `${nested}</td></tr>`,
  ].join('')
}

/** Lists the fields of a schema; a schema that contains itself is said so and not opened again. */
export function fieldsOf(doc: Dict, node: unknown, stack: Dict[] = []): string {
  const own = resolve(doc, node)
  if (stack.includes(own)) return '<p class="fact">The same fields again: this object can contain itself.</p>'
  if (stack.length > 9) return ''
  const schema = schemaOf(doc, node)
  const inside = [...stack, own]
  if (schema.items) return fieldsOf(doc, schema.items, inside)
  const rows = each(Object.entries(dict(schema.properties)), ([name, child]) =>
    row(doc, name, child, { required: list(schema.required).includes(name) }, inside),
  )
  const others = dict(schema.additionalProperties)
  const more = Object.keys(others).length ? row(doc, rows ? 'any other key' : 'any key', others, {}, inside) : ''
  const variants = each(variantsOf(schema), (variant) =>
    fold(`Variant: ${esc(typeOf(doc, variant))}`, fieldsOf(doc, variant, inside)),
  )
  return table(rows + more, nameOf(node) || 'Fields') + variants
}

const formats = new Map([
  ['date-time', '2026-03-14T09:26:53Z'],
  ['date', '2026-03-14'],
  ['email', 'ana@example.com'],
  ['uri', 'https://example.com/'],
  ['uuid', '0b7f5c1e-6a55-4f0b-9a53-2f1d8c7e4b60'],
])

/** Builds an example value; a field that would repeat one of its own parents is left out. */
export function sampleOf(doc: Dict, node: unknown, hide: 'readOnly' | 'writeOnly', stack: Dict[] = []): unknown {
  const own = resolve(doc, node)
  const schema = schemaOf(doc, node)
  const given = [schema.example, list(schema.examples)[0], schema.default, list(schema.enum)[0]]
  const ready = [...given, list(schema['x-extensible-enum'])[0]].find((value) => value !== undefined)
  if (ready !== undefined) return ready
  if (stack.includes(own) || stack.length > 9) return schema.nullable === true ? null : undefined
  const inner = (child: unknown) => sampleOf(doc, child, hide, [...stack, own])
  const variant = variantsOf(schema)[0]
  if (variant !== undefined) return inner(variant)
  if (schema.items) return [inner(schema.items)].filter((item) => item !== undefined)
  if (schema.properties) {
    const visible = Object.entries(dict(schema.properties)).filter(([, child]) => schemaOf(doc, child)[hide] !== true)
    return Object.fromEntries(visible.map(([name, child]) => [name, inner(child)]))
  }
  if (Object.keys(dict(schema.additionalProperties)).length) return { key: inner(schema.additionalProperties) }
  if (schema.type === 'boolean') return true
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? schema.maximum ?? 1
  if (schema.type === 'array') return []
  return schema.type === 'string' ? (formats.get(text(schema.format)) ?? 'string') : {}
}

export type Example = { label: string; value: unknown; given: boolean }

/** The examples of a media type, else one built from its schema. */
export function examplesOf(doc: Dict, media: Dict, hide: 'readOnly' | 'writeOnly'): Example[] {
  if (media.example !== undefined) return [{ label: '', value: media.example, given: true }]
  const named = Object.entries(dict(media.examples)).map(([name, node]) => {
    const example = resolve(doc, node)
    return { label: text(example.summary) || name, value: example.value, given: true }
  })
  if (named.some((example) => example.value !== undefined)) return named
  const value = sampleOf(doc, media.schema, hide)
  return value === undefined ? [] : [{ label: '', value, given: schemaOf(doc, media.schema).example !== undefined }]
}
