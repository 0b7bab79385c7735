import type { Page } from '../pages.ts'
import type { Asset, Location, Renamed, Tag, TagAttach } from '../types.ts'
import { isInteractive, prompt } from './prompt.ts'
import type { Context } from './context.ts'
import { inputFields, inputOptions, patchFields } from './input.ts'
import type { Output, Row } from './output.ts'
import { CommandError, UsageError } from './errors.ts'
import {
  type Command,
  type Option,
  type OptionValues,
  booleanOption,
  integerOption,
  listOption,
  stringOption,
  withoutUndefined,
} from './args.ts'
import { formatTag, parseTag } from './tags.ts'

export type Kind = 'assets' | 'locations'
export type Item = Asset | Location

/** The methods that the commands use of both assets and locations. */
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

export const recordsApi = (client: ReturnType<Context['client']>, kind: Kind): Records =>
  client[kind] as unknown as Records

const singular = (kind: Kind): string => kind.slice(0, -1)

/** Returns the record with this key, or with this id when --id is set. */
export async function findRecord(records: Records, kind: Kind, name: string, values: OptionValues): Promise<Item> {
  if (values['id'] === true) {
    if (!/^\d+$/.test(name)) throw new UsageError(`'${name}' is not an id: --id takes a whole number`)
    return records.get(Number(name))
  }
  const found = await records.findByKey(name)
  if (found === null) throw new CommandError(`There is no ${singular(kind)} with the key '${name}'`)
  return found
}

export const idOption: Record<string, Option> = {
  id: { type: 'boolean', summary: 'the argument is an id instead of a key' },
}

export const pageOptions: Record<string, Option> = {
  limit: { type: 'string', value: '<count>', summary: 'the maximum number of rows, up to 200; 50 when absent' },
  offset: { type: 'string', value: '<count>', summary: 'the number of rows to skip' },
}

export const pageQuery = (values: OptionValues): { limit?: number; offset?: number } =>
  withoutUndefined({
    limit: integerOption(values, 'limit', 1, 200),
    offset: integerOption(values, 'offset', 0, Number.MAX_SAFE_INTEGER),
  })

/** Prints a page, and a note when the list has more rows. */
export function showPage(out: Output, columns: readonly string[], page: Page<object>, rows: readonly Row[]): void {
  if (out.isJson) return out.json(page)
  out.table(columns, rows)
  if (rows.length < page.total_count) out.note(`${rows.length} of ${page.total_count}`)
}

const toRow = (item: Item): Row => ({
  key: item.external_key,
  ...item,
  parent: 'parent_external_key' in item ? item.parent_external_key : null,
  active: item.is_active ? 'yes' : 'no',
  tags: item.tags.map(formatTag),
  updated: item.updated_at,
})

function showItem(out: Output, item: Item): void {
  if (out.isJson) out.json(item)
  else out.record({ ...item, tags: item.tags.map(formatTag) })
}

function listQuery(values: OptionValues): Row {
  return withoutUndefined({
    q: stringOption(values, 'q'),
    sort: stringOption(values, 'sort'),
    external_key: values['key'] === undefined ? undefined : listOption(values, 'key'),
    parent_external_key: values['parent'] === undefined ? undefined : listOption(values, 'parent'),
    is_active: booleanOption(values, 'active'),
    include_deleted: values['include-deleted'] === true ? true : undefined,
    ...pageQuery(values),
  })
}

/** Joins all pages into one. */
async function joinPages(pages: AsyncIterable<Page<Item>>): Promise<Page<Item>> {
  const data: Item[] = []
  for await (const page of pages) data.push(...page.data)
  return { data, limit: data.length, offset: 0, total_count: data.length }
}

async function confirmDelete(items: readonly Item[], kind: Kind, values: OptionValues): Promise<boolean> {
  if (values['yes'] === true) return true
  const names = items.map(({ external_key: key, name }) => `${key} (${name})`).join(', ')
  return /^y(es)?$/i.test(await prompt(`Delete ${singular(kind)} ${names}? [y/N] `))
}

function listCommand(kind: Kind): Command {
  const columns =
    kind === 'assets'
      ? ['key', 'name', 'active', 'tags', 'updated']
      : ['key', 'name', 'parent', 'active', 'tags', 'updated']
  const parent: Record<string, Option> = {
    parent: { type: 'string', multiple: true, value: '<key>', summary: 'only locations directly in this one' },
  }
  return {
    name: `${kind} list`,
    summary: `list ${kind} that are valid now`,
    options: {
      q: { type: 'string', value: '<text>', summary: 'only records with this text in name, key, description or tags' },
      key: { type: 'string', multiple: true, value: '<key>', summary: 'only the record with this key' },
      ...(kind === 'locations' ? parent : {}),
      active: { type: 'string', value: 'true|false', summary: 'only active records, or only inactive records' },
      'include-deleted': { type: 'boolean', summary: 'also deleted records' },
      sort: {
        type: 'string',
        value: '<fields>',
        summary: 'the sort order, such as name, or --sort=-updated_at for descending',
      },
      ...pageOptions,
      all: { type: 'boolean', summary: 'all pages' },
    },
    async run({ out, client }, _args, values) {
      const records = recordsApi(client(), kind)
      const query = listQuery(values)
      const page = values['all'] === true ? await joinPages(records.pages(query)) : await records.list(query)
      showPage(out, columns, page, page.data.map(toRow))
    },
  }
}

const singleRecordCommands = (kind: Kind): Command[] => [
  {
    name: `${kind} get`,
    arguments: '<key>',
    summary: `show one ${kind.slice(0, -1)}`,
    options: idOption,
    async run({ out, client }, [key], values) {
      showItem(out, await findRecord(recordsApi(client(), kind), kind, key!, values))
    },
  },
  {
    name: `${kind} create`,
    summary: `create ${kind === 'assets' ? 'an asset' : 'a location'}`,
    options: inputOptions(kind, 'create'),
    async run({ out, client }, _args, values) {
      showItem(out, await recordsApi(client(), kind).create(inputFields(values)))
    },
  },
  {
    name: `${kind} patch`,
    arguments: '<key>',
    summary: `change the given fields of one ${kind.slice(0, -1)}`,
    options: { ...idOption, ...inputOptions(kind, 'patch') },
    async run({ out, client }, [key], values) {
      const patch = patchFields(values)
      const records = recordsApi(client(), kind)
      const { id } = await findRecord(records, kind, key!, values)
      showItem(out, await records.patch(id, patch))
    },
  },
  {
    name: `${kind} rename`,
    arguments: '<key> <new-key>',
    summary: `change the key of one ${kind.slice(0, -1)}`,
    options: idOption,
    async run({ out, client }, [key, newKey], values) {
      const records = recordsApi(client(), kind)
      const { id } = await findRecord(records, kind, key!, values)
      showItem(out, await records.rename(id, newKey!))
    },
  },
  {
    name: `${kind} delete`,
    arguments: '<key...>',
    summary: `delete ${kind}`,
    options: { ...idOption, yes: { type: 'boolean', summary: 'do not prompt for confirmation' } },
    async run({ out, client }, keys, values) {
      if (values['yes'] !== true && !isInteractive())
        throw new UsageError('--yes is required without a terminal, where delete cannot prompt')
      const records = recordsApi(client(), kind)
      const items: Item[] = []
      for (const key of keys) items.push(await findRecord(records, kind, key, values))
      if (!(await confirmDelete(items, kind, values))) throw new CommandError('Nothing was deleted')
      for (const { id } of items) await records.delete(id)
      if (out.isJson) out.json({ deleted: items.map(({ id, external_key }) => ({ id, external_key })) })
      else for (const { external_key: key } of items) out.note(`Deleted ${key}`)
    },
  },
  {
    name: `${kind} tag`,
    arguments: '<key> <type:value...>',
    summary: 'attach tags, such as rfid:E280…',
    options: idOption,
    async run({ out, client }, [key, ...tags], values) {
      const wanted = tags.map(parseTag)
      const records = recordsApi(client(), kind)
      const { id } = await findRecord(records, kind, key!, values)
      for (const tag of wanted) await records.attachTag(id, tag)
      showItem(out, await records.get(id))
    },
  },
  {
    name: `${kind} untag`,
    arguments: '<key> <type:value...>',
    summary: 'detach tags',
    options: idOption,
    async run({ out, client }, [key, ...tags], values) {
      const records = recordsApi(client(), kind)
      const item = await findRecord(records, kind, key!, values)
      const ids = tags.map((text) => {
        const tag = item.tags.find((candidate) => formatTag(candidate) === text)
        if (tag === undefined) throw new CommandError(`${item.external_key} has no tag ${text}`)
        return tag.id
      })
      for (const id of ids) await records.detachTag(item.id, id)
      showItem(out, await records.get(item.id))
    },
  },
]

export const recordCommands = (kind: Kind): Command[] => [listCommand(kind), ...singleRecordCommands(kind)]
