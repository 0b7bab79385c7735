import { InexactNumberError, parseExactJson } from '../exact-json.ts'
import { UsageError } from './problems.ts'
import { type Option, type Values, given, listOf, textOf, truthOf } from './usage.ts'
import { tagFrom } from './tags.ts'

type Fields = Record<string, unknown>

/** The options that say what a record is to be like. */
export function draftOptions(kind: 'assets' | 'locations', what: 'create' | 'patch'): Record<string, Option> {
  const own: Record<string, Option> =
    kind === 'assets'
      ? { metadata: { type: 'string', value: '<json>', about: 'an object; merged into what is there' } }
      : { parent: { type: 'string', value: '<key>', about: 'the location it is in' } }
  const more: Record<string, Option> =
    what === 'create'
      ? {
          key: { type: 'string', value: '<key>', about: 'its external_key; made up by the server when absent' },
          tag: { type: 'string', multiple: true, value: '<type:value>', about: 'such as rfid:E280…' },
        }
      : {
          clear: {
            type: 'string',
            multiple: true,
            value: '<field>',
            about: 'description, valid_to or, of locations, parent',
          },
        }
  return {
    name: { type: 'string', value: '<text>', about: 'what it is called' },
    description: { type: 'string', value: '<text>', about: 'more about it' },
    ...own,
    active: { type: 'string', value: 'true|false', about: 'whether it is in use' },
    'valid-from': { type: 'string', value: '<time>', about: 'RFC 3339' },
    'valid-to': { type: 'string', value: '<time>', about: 'RFC 3339' },
    ...more,
    data: { type: 'string', value: '<json>', about: 'the body as the API takes it; other options go on top' },
  }
}

function jsonObject(values: Values, name: string): Fields | undefined {
  const text = textOf(values, name)
  if (text === undefined) return undefined
  try {
    const value = parseExactJson(text, `--${name}`)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  } catch (error) {
    if (error instanceof InexactNumberError) throw new UsageError(error.message)
  }
  throw new UsageError(`--${name} must be a JSON object`)
}

/** The body that the options amount to. */
export function draftOf(values: Values): Fields {
  const tags = listOf(values, 'tag').map(tagFrom)
  return {
    ...jsonObject(values, 'data'),
    ...given({
      external_key: textOf(values, 'key'),
      name: textOf(values, 'name'),
      description: textOf(values, 'description'),
      metadata: jsonObject(values, 'metadata'),
      parent_external_key: textOf(values, 'parent'),
      is_active: truthOf(values, 'active'),
      valid_from: textOf(values, 'valid-from'),
      valid_to: textOf(values, 'valid-to'),
      tags: tags.length === 0 ? undefined : tags,
    }),
  }
}

const clearable: Record<string, string> = {
  description: 'description',
  valid_to: 'valid_to',
  parent: 'parent_external_key',
}

export function patchOf(values: Values): Fields {
  const cleared = listOf(values, 'clear').map((name) => {
    const field = clearable[name]
    if (field === undefined) throw new UsageError(`--clear takes ${Object.keys(clearable).join(', ')}`)
    return [field, null] as const
  })
  const patch = { ...draftOf(values), ...Object.fromEntries(cleared) }
  if (Object.keys(patch).length === 0) throw new UsageError('nothing to change: name an option or --data')
  return patch
}
