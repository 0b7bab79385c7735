import type { QueryOf, QuerySpec } from '../../http/query.ts'
import { type AnyRoute, created, noContent, ok, route } from '../../http/route.ts'
import type { Infer, Shape } from '../../http/schema.ts'
import { type Component, listExample, listOfAll, single, singleExample } from '../../http/shape.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { type Store, attachTag, detachTag, getRecord } from '../../records/commands.ts'
import type { Needs, RecordCore } from '../../records/record.ts'
import { listAnswer } from '../shared/wire.ts'
import { IdentifierOut, draftOf, identifierBody, presentIdentifier } from './wire.ts'

/** A record as paths name it. */
interface KeyRef {
  key: string
}

/** What one kind of record brings to the seven operations that every kind has. */
export interface RecordApi<R extends RecordCore, C extends Shape, U extends Shape, Q extends object> {
  base: string
  store: Store<R>
  /** Written out, so that a search for a path finds its resource. */
  paths: Record<'collection' | 'item' | 'identifiers' | 'identifier', string>
  singular: 'asset' | 'location'
  /** Words that stand where a path has the key, and so hide the record with that key. */
  fixedWords: readonly string[]
  out: Component
  present: (record: R) => object
  create: { shape: C; example: object; description: string }
  update: { shape: U; example: object; description: string }
  remove: { description: string; refusals: readonly number[] }
  query: QuerySpec<Q>
  commands: {
    list: (orgId: number, query: QueryOf<Q> & PageRequest) => Promise<Page<R>>
    create: (orgId: number, body: Infer<C>) => Promise<R>
    change: (orgId: number, ref: KeyRef, body: Infer<U>) => Promise<R>
    remove: (orgId: number, ref: KeyRef) => Promise<void>
  }
}

/**
 * The key as a path segment. A key that reads like a fixed word has its first letter percent-encoded: the router compares
 * segments before they are decoded.
 */
function segmentOf(key: string, fixedWords: readonly string[]): string {
  if (!fixedWords.includes(key)) return encodeURIComponent(key)
  return `%${key.charCodeAt(0).toString(16).toUpperCase()}${key.slice(1)}`
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

export function recordRoutes<R extends RecordCore, C extends Shape, U extends Shape, Q extends object>(
  needs: Needs,
  api: RecordApi<R, C, U, Q>,
): AnyRoute[] {
  const { singular, store, paths, out, present, commands } = api
  const plural = `${singular}s`
  const article = singular === 'asset' ? 'an asset' : 'a location'
  const [read, write] = [`${plural}:read`, `${plural}:write`]
  const common = { group: capital(plural), access: 'any' } as const
  const one = {
    ...common,
    keys: ['identifier'],
    exists: async (call: { caller: { orgId: number }; params: { identifier: string } }): Promise<void> => {
      await getRecord(needs, store, call.caller.orgId, { key: call.params.identifier })
    },
  } as const
  const whole = { schema: single(out), example: singleExample(out) }

  return [
    route({
      ...common,
      id: `${plural}.list`,
      method: 'GET',
      path: paths.collection,
      scopes: [read],
      summary: `List ${plural}`,
      description: 'Lists what is valid now.',
      query: api.query,
      success: { status: 200, description: `A page of ${plural}`, schema: listOfAll(out), example: listExample(out) },
      async handle({ caller, query }) {
        const request = query as QueryOf<Q> & PageRequest
        return ok(listAnswer(await commands.list(caller.orgId, request), request, present))
      },
    }),
    route({
      ...common,
      id: `${plural}.create`,
      method: 'POST',
      path: paths.collection,
      scopes: [write],
      summary: `Create ${article}`,
      description: api.create.description,
      body: { ...api.create, mediaType: 'application/json', name: `${capital(singular)}Create` },
      success: { status: 201, description: `The ${singular}`, ...whole },
      refusals: [409],
      async handle({ caller, body }) {
        const record = await commands.create(caller.orgId, body)
        const segment = segmentOf(record.externalKey, api.fixedWords)
        return created(`${api.base}${paths.collection}/${segment}`, { data: present(record) })
      },
    }),
    route({
      ...one,
      id: `${plural}.get`,
      method: 'GET',
      path: paths.item,
      scopes: [read],
      summary: `Read ${article}`,
      success: { status: 200, description: `The ${singular}`, ...whole },
      async handle({ caller, params }) {
        return ok({ data: present(await getRecord(needs, store, caller.orgId, { key: params.identifier })) })
      },
    }),
    route({
      ...one,
      id: `${plural}.update`,
      method: 'PUT',
      path: paths.item,
      scopes: [write],
      summary: `Change ${article}`,
      description: api.update.description,
      body: { ...api.update, mediaType: 'application/json', name: `${capital(singular)}Update` },
      success: { status: 200, description: `The ${singular}`, ...whole },
      refusals: [409],
      async handle({ caller, params, body }) {
        return ok({ data: present(await commands.change(caller.orgId, { key: params.identifier }, body)) })
      },
    }),
    route({
      ...one,
      id: `${plural}.delete`,
      method: 'DELETE',
      path: paths.item,
      scopes: [write],
      summary: `Delete ${article}`,
      description: api.remove.description,
      success: { status: 204, description: 'Deleted' },
      refusals: api.remove.refusals,
      async handle({ caller, params }) {
        await commands.remove(caller.orgId, { key: params.identifier })
        return noContent
      },
    }),
    route({
      ...one,
      id: `${plural}.identifiers.attach`,
      method: 'POST',
      path: paths.identifiers,
      scopes: [write],
      summary: `Attach an identifier to ${article}`,
      body: {
        mediaType: 'application/json',
        name: 'IdentifierAttach',
        shape: identifierBody,
        example: { type: 'rfid', value: 'E28011700000020A1B2C3D4E' },
      },
      success: {
        status: 201,
        description: 'The identifier',
        schema: single(IdentifierOut),
        example: singleExample(IdentifierOut),
      },
      refusals: [409],
      async handle({ caller, params, body }) {
        const tag = await attachTag(needs, store, caller.orgId, { key: params.identifier }, draftOf(body))
        return { status: 201, body: { data: presentIdentifier(tag) } }
      },
    }),
    route({
      ...common,
      id: `${plural}.identifiers.detach`,
      method: 'DELETE',
      path: paths.identifier,
      keys: ['identifier'],
      ids: ['identifierId'],
      scopes: [write],
      summary: `Detach an identifier from ${article}`,
      success: { status: 204, description: 'Detached' },
      async handle({ caller, params }) {
        await detachTag(needs, store, caller.orgId, { key: params.identifier }, params.identifierId)
        return noContent
      },
    }),
  ]
}
