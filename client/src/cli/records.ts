import type { Page } from '../pages.ts'
import type { Asset, Location, Renamed, Tag, TagAttach } from '../types.ts'
import { ask, isAtTerminal } from './ask.ts'
import type { Context } from './context.ts'
import { draftOf, draftOptions, patchOf } from './drafts.ts'
import type { Output, Row } from './output.ts'
import { CommandError, UsageError } from './problems.ts'
import { type Command, type Option, type Values, countOf, given, listOf, textOf, truthOf } from './usage.ts'
import { tagFrom, tagText } from './tags.ts'

export type Kind = 'assets' | 'locations'
export type Item = Asset | Location

/** What the commands need of assets and of locations alike. */
export interface Records {
  list(query: object): Promise<Page<Item>>
  pages(query: object): AsyncGenerator<Page<Item>, void, undefined>
  get(id: number): Promise<Item>
  findByKey(key: string): Promise<Item | null>
  create(body: object): Promise<Item>
  patch(id: number, patch: object): Promise<Item>
  update(item: Item, change: (draft: Item) => void): Promise<Item>
  rename(id: number, key: string): Promise<Renamed<Item>>
  delete(id: number): Promise<void>
  attachTag(id: number, tag: TagAttach): Promise<Tag>
  detachTag(id: number, tagId: number): Promise<void>
}

export const recordsOf = (client: ReturnType<Context['client']>, kind: Kind): Records =>
  client[kind] as unknown as Records

const singular = (kind: Kind): string => kind.slice(0, -1)

/** The record that somebody named by its key, or by its id where they said so. */
export async function find(records: Records, kind: Kind, name: string, values: Values): Promise<Item> {
  if (values['id'] === true) {
    if (!/^\d+$/.test(name)) throw new UsageError(`'${name}' is not an id`)
    return records.get(Number(name))
  }
  const found = await records.findByKey(name)
  if (found === null) throw new CommandError(`There is no ${singular(kind)} with the key '${name}'`)
  return found
}

export const byId: Record<string, Option> = { id: { type: 'boolean', about: 'it is named by its id, not by its key' } }

export const paging: Record<string, Option> = {
  limit: { type: 'string', value: '<count>', about: 'rows at most, up to 200; 50 if absent' },
  offset: { type: 'string', value: '<count>', about: 'rows to leave out first' },
}

export const pageOf = (values: Values): { limit?: number; offset?: number } =>
  given({
    limit: countOf(values, 'limit', 1, 200),
    offset: countOf(values, 'offset', 0, Number.MAX_SAFE_INTEGER),
  })

/** Shows a page, and says when there is more. */
export function showPage(out: Output, columns: readonly string[], page: Page<object>, rows: readonly Row[]): void {
  if (out.isJson) return out.json(page)
  out.table(columns, rows)
  if (rows.length < page.total_count) out.note(`${rows.length} of ${page.total_count}`)
}

const rowOf = (item: Item): Row => ({
  key: item.external_key,
  ...item,
  parent: 'parent_external_key' in item ? item.parent_external_key : null,
  active: item.is_active ? 'yes' : 'no',
  tags: item.tags.map(tagText),
  updated: item.updated_at,
})

function showItem(out: Output, item: Item): void {
  if (out.isJson) out.json(item)
  else out.facts({ ...item, tags: item.tags.map(tagText) })
}

function listQuery(values: Values): Row {
  return given({
    q: textOf(values, 'q'),
    sort: textOf(values, 'sort'),
    external_key: values['key'] === undefined ? undefined : listOf(values, 'key'),
    parent_external_key: values['parent'] === undefined ? undefined : listOf(values, 'parent'),
    is_active: truthOf(values, 'active'),
    include_deleted: values['include-deleted'] === true ? true : undefined,
    ...pageOf(values),
  })
}

/** Every page as if it were one. */
async function whole(pages: AsyncIterable<Page<Item>>): Promise<Page<Item>> {
  const data: Item[] = []
  for await (const page of pages) data.push(...page.data)
  return { data, limit: data.length, offset: 0, total_count: data.length }
}

async function confirmed(items: readonly Item[], kind: Kind, values: Values): Promise<boolean> {
  if (values['yes'] === true) return true
  if (!isAtTerminal()) throw new UsageError('deleting needs --yes where nobody can be asked')
  const names = items.map(({ external_key: key, name }) => `${key} (${name})`).join(', ')
  return /^y(es)?$/i.test(await ask(`Delete ${singular(kind)} ${names}? [y/N] `))
}

function listCommand(kind: Kind): Command {
  const columns =
    kind === 'assets'
      ? ['key', 'name', 'active', 'tags', 'updated']
      : ['key', 'name', 'parent', 'active', 'tags', 'updated']
  const parent: Record<string, Option> = {
    parent: { type: 'string', multiple: true, value: '<key>', about: 'only what is directly in one of these' },
  }
  return {
    words: `${kind} list`,
    about: `list ${kind} that are valid now`,
    options: {
      q: { type: 'string', value: '<text>', about: 'only where this occurs in name, key, description or tags' },
      key: { type: 'string', multiple: true, value: '<key>', about: 'only these keys' },
      ...(kind === 'locations' ? parent : {}),
      active: { type: 'string', value: 'true|false', about: 'only active ones, or only the others' },
      'include-deleted': { type: 'boolean', about: 'deleted ones too' },
      sort: { type: 'string', value: '<fields>', about: 'such as name, or --sort=-updated_at for descending' },
      ...paging,
      all: { type: 'boolean', about: 'page after page to the end' },
    },
    async run({ out, client }, _args, values) {
      const records = recordsOf(client(), kind)
      const query = listQuery(values)
      const page = values['all'] === true ? await whole(records.pages(query)) : await records.list(query)
      showPage(out, columns, page, page.data.map(rowOf))
    },
  }
}

const named = (kind: Kind): Command[] => [
  {
    words: `${kind} get`,
    takes: '<key>',
    about: `show one ${kind.slice(0, -1)}`,
    options: byId,
    async run({ out, client }, [key], values) {
      showItem(out, await find(recordsOf(client(), kind), kind, key!, values))
    },
  },
  {
    words: `${kind} create`,
    about: `create ${kind === 'assets' ? 'an asset' : 'a location'}`,
    options: draftOptions(kind, 'create'),
    async run({ out, client }, _args, values) {
      showItem(out, await recordsOf(client(), kind).create(draftOf(values)))
    },
  },
  {
    words: `${kind} patch`,
    takes: '<key>',
    about: `change the given fields of one ${kind.slice(0, -1)}`,
    options: { ...byId, ...draftOptions(kind, 'patch') },
    async run({ out, client }, [key], values) {
      const patch = patchOf(values)
      const records = recordsOf(client(), kind)
      const { id } = await find(records, kind, key!, values)
      showItem(out, await records.patch(id, patch))
    },
  },
  {
    words: `${kind} rename`,
    takes: '<key> <new-key>',
    about: `change the key of one ${kind.slice(0, -1)}`,
    options: byId,
    async run({ out, client }, [key, newKey], values) {
      const records = recordsOf(client(), kind)
      const { id } = await find(records, kind, key!, values)
      showItem(out, await records.rename(id, newKey!))
    },
  },
  {
    words: `${kind} delete`,
    takes: '<key...>',
    about: `delete ${kind}`,
    options: { ...byId, yes: { type: 'boolean', about: 'do not ask' } },
    async run({ out, client }, keys, values) {
      if (values['yes'] !== true && !isAtTerminal())
        throw new UsageError('deleting needs --yes where nobody can be asked')
      const records = recordsOf(client(), kind)
      const items: Item[] = []
      for (const key of keys) items.push(await find(records, kind, key, values))
      if (!(await confirmed(items, kind, values))) throw new CommandError('Nothing was deleted')
      for (const { id } of items) await records.delete(id)
      if (out.isJson) out.json({ deleted: items.map(({ id, external_key }) => ({ id, external_key })) })
      else for (const { external_key: key } of items) out.note(`Deleted ${key}`)
    },
  },
  {
    words: `${kind} tag`,
    takes: '<key> <type:value...>',
    about: 'attach tags, such as rfid:E280…',
    options: byId,
    async run({ out, client }, [key, ...tags], values) {
      const wanted = tags.map(tagFrom)
      const records = recordsOf(client(), kind)
      const { id } = await find(records, kind, key!, values)
      for (const tag of wanted) await records.attachTag(id, tag)
      showItem(out, await records.get(id))
    },
  },
  {
    words: `${kind} untag`,
    takes: '<key> <type:value...>',
    about: 'detach tags',
    options: byId,
    async run({ out, client }, [key, ...tags], values) {
      const records = recordsOf(client(), kind)
      const item = await find(records, kind, key!, values)
      const ids = tags.map((text) => {
        const tag = item.tags.find((one) => tagText(one) === text)
        if (tag === undefined) throw new CommandError(`${item.external_key} has no tag ${text}`)
        return tag.id
      })
      for (const id of ids) await records.detachTag(item.id, id)
      showItem(out, await records.get(item.id))
    },
  },
]

export const recordCommands = (kind: Kind): Command[] => [listCommand(kind), ...named(kind)]
