import type { QuerySpec, QueryOf } from '../../http/query.ts'
import { type AnyRoute, created, noContent, ok, route } from '../../http/route.ts'
import type { Infer, Shape } from '../../http/schema.ts'
import { type Component, listExample, listOfAll, single, singleExample } from '../../http/shape.ts'
import { refuseAny } from '../../kernel/errors.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { type Renamed, type Store, attachTag, detachTag, getRecord } from '../../records/commands.ts'
import { tagBody } from '../../records/fields.ts'
import { serverManagedErrors } from '../../records/read-only-fields.ts'
import type { Needs, RecordCore } from '../../records/record.ts'
import { listAnswer } from '../shared/wire.ts'
import { TagOut, draftOf, presentTag, renameBody, renamed } from './wire.ts'

/** What one kind of record brings to the eight operations that every kind has. */
export interface RecordApi<R extends RecordCore, C extends Shape, P extends Shape, Q extends object> {
  base: string
  store: Store<R>
  /** Written out, so that a search for a path finds its resource. */
  paths: Record<'collection' | 'item' | 'rename' | 'tags' | 'tag', string>
  singular: 'asset' | 'location'
  out: Component
  present: (record: R) => object
  create: { shape: C; example: object; description: string }
  patch: { shape: P; example: object; refusals: readonly number[] }
  remove: { description: string; refusals: readonly number[] }
  query: QuerySpec<Q>
  commands: {
    list: (orgId: number, query: QueryOf<Q> & PageRequest) => Promise<Page<R>>
    create: (orgId: number, body: Infer<C>) => Promise<R>
    change: (orgId: number, id: number, body: Infer<P>) => Promise<R>
    remove: (orgId: number, id: number) => Promise<void>
    rename: (orgId: number, id: number, key: string) => Promise<Renamed<R>>
  }
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

export function recordRoutes<R extends RecordCore, C extends Shape, P extends Shape, Q extends object>(
  needs: Needs,
  api: RecordApi<R, C, P, Q>,
): AnyRoute[] {
  const { singular, store, paths, out, present, commands } = api
  const plural = `${singular}s`
  const article = singular === 'asset' ? 'an asset' : 'a location'
  const id = `${singular}_id` as const
  const [read, write] = [`${plural}:read`, `${plural}:write`]
  const Renamed = renamed(out, `${capital(singular)}Renamed`)
  const common = { group: capital(plural), access: 'any' } as const
  const one = {
    ...common,
    ids: [id],
    exists: async (call: { caller: { orgId: number }; params: Record<typeof id, number> }): Promise<void> => {
      await getRecord(needs, store, call.caller.orgId, call.params[id])
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
      description: 'Lists what is valid now; `include_deleted` adds deleted records.',
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
        return created(`${api.base}${paths.collection}/${record.id}`, { data: present(record) })
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
        return ok({ data: present(await getRecord(needs, store, caller.orgId, params[id])) })
      },
    }),
    route({
      ...one,
      id: `${plural}.patch`,
      method: 'PATCH',
      path: paths.item,
      scopes: [write],
      summary: `Change ${article}`,
      description:
        'JSON merge patch (RFC 7396). Send `updated_at` as it was read to be refused when somebody else wrote meanwhile.',
      body: { ...api.patch, mediaType: 'application/merge-patch+json', name: `${capital(singular)}Patch` },
      success: { status: 200, description: `The ${singular}`, ...whole },
      refusals: api.patch.refusals,
      // Server-managed fields are judged before all others, also before what is wrong with the rest of the body.
      async exists({ caller, params, body }) {
        const current = await getRecord(needs, store, caller.orgId, params[id])
        refuseAny(serverManagedErrors(body ?? {}, current))
      },
      async handle({ caller, params, body }) {
        return ok({ data: present(await commands.change(caller.orgId, params[id], body)) })
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
        await commands.remove(caller.orgId, params[id])
        return noContent
      },
    }),
    route({
      ...one,
      id: `${plural}.rename`,
      method: 'POST',
      path: paths.rename,
      scopes: [write],
      summary: `Give ${article} another key`,
      description: 'The same key again changes nothing.',
      body: { mediaType: 'application/json', name: 'Rename', shape: renameBody, example: { external_key: 'NEW-KEY' } },
      success: {
        status: 200,
        description: `The ${singular} under its new key`,
        schema: single(Renamed),
        example: singleExample(Renamed),
      },
      refusals: [409],
      async handle({ caller, params, body }) {
        const { record, descendantCount } = await commands.rename(caller.orgId, params[id], body.external_key)
        return ok({ data: { ...present(record), descendant_count_affected: descendantCount } })
      },
    }),
    route({
      ...one,
      id: `${plural}.tags.attach`,
      method: 'POST',
      path: paths.tags,
      scopes: [write],
      summary: `Attach a tag to ${article}`,
      body: {
        mediaType: 'application/json',
        name: 'TagAttach',
        shape: tagBody,
        example: { tag_type: 'rfid', value: 'E28011700000020A1B2C3D4E' },
      },
      success: { status: 201, description: 'The tag', schema: single(TagOut), example: singleExample(TagOut) },
      refusals: [409],
      async handle({ caller, params, body }) {
        const tag = await attachTag(needs, store, caller.orgId, params[id], draftOf(body))
        return { status: 201, body: { data: presentTag(tag) } }
      },
    }),
    route({
      ...common,
      id: `${plural}.tags.detach`,
      method: 'DELETE',
      path: paths.tag,
      ids: [id, 'tag_id'],
      scopes: [write],
      summary: `Detach a tag from ${article}`,
      success: { status: 204, description: 'Detached' },
      async handle({ caller, params }) {
        await detachTag(needs, store, caller.orgId, params[id], params.tag_id)
        return noContent
      },
    }),
  ]
}
