import type { QuerySpec, QueryOf } from '../../http/validation/parameters.ts'
import { type AnyRoute, created, noContent, ok, route } from '../../http/route.ts'
import type { Infer, Shape } from '../../http/validation/schema.ts'
import { type Component, pageExample, pageOf, envelope, envelopeExample } from '../../http/openapi/response-schema.ts'
import { throwIfAny } from '../../kernel/errors.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { type Renamed, type Repository, attachTag, detachTag, getRecord } from '../../records/commands.ts'
import { tagBody } from '../../records/fields.ts'
import { serverManagedErrors } from '../../records/read-only-fields.ts'
import type { RecordDeps, RecordCore } from '../../records/record.ts'
import { listAnswer } from '../shared/wire.ts'
import { TagOut, draftOf, presentTag, renameBody, renamed } from './wire.ts'

/** The parts of the eight record operations that differ between assets and locations. */
export interface RecordApi<R extends RecordCore, C extends Shape, P extends Shape, Q extends object> {
  base: string
  repository: Repository<R>
  /** Written in full, so that a text search for a path finds its route. */
  paths: Record<'collection' | 'item' | 'rename' | 'tags' | 'tag', string>
  singular: 'asset' | 'location'
  out: Component
  present: (record: R) => object
  create: { shape: C; example: object; description: string }
  patch: { shape: P; example: object; errorStatuses: readonly number[] }
  remove: { description: string; errorStatuses: readonly number[] }
  query: QuerySpec<Q>
  commands: {
    list: (orgId: number, query: QueryOf<Q> & PageRequest) => Promise<Page<R>>
    create: (orgId: number, body: Infer<C>) => Promise<R>
    change: (orgId: number, id: number, body: Infer<P>) => Promise<R>
    remove: (orgId: number, id: number) => Promise<void>
    rename: (orgId: number, id: number, key: string) => Promise<Renamed<R>>
  }
}

const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

export function recordRoutes<R extends RecordCore, C extends Shape, P extends Shape, Q extends object>(
  deps: RecordDeps,
  api: RecordApi<R, C, P, Q>,
): AnyRoute[] {
  const { singular, repository, paths, out, present, commands } = api
  const plural = `${singular}s`
  const article = singular === 'asset' ? 'an asset' : 'a location'
  const id = `${singular}_id` as const
  const [read, write] = [`${plural}:read`, `${plural}:write`]
  const Renamed = renamed(out, `${capitalize(singular)}Renamed`)
  const common = { group: capitalize(plural), access: 'any' } as const
  const item = {
    ...common,
    ids: [id],
    ensureExists: async (call: { principal: { orgId: number }; params: Record<typeof id, number> }): Promise<void> => {
      await getRecord(deps, repository, call.principal.orgId, call.params[id])
    },
  } as const
  const responseBody = { schema: envelope(out), example: envelopeExample(out) }

  return [
    route({
      ...common,
      id: `${plural}.list`,
      method: 'GET',
      path: paths.collection,
      scopes: [read],
      summary: `List ${plural}`,
      description: `Lists ${plural} that are valid now; \`include_deleted\` adds deleted ${plural}.`,
      query: api.query,
      success: { status: 200, description: `A page of ${plural}`, schema: pageOf(out), example: pageExample(out) },
      async handle({ principal, query }) {
        const request = query as QueryOf<Q> & PageRequest
        return ok(listAnswer(await commands.list(principal.orgId, request), request, present))
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
      body: { ...api.create, mediaType: 'application/json', name: `${capitalize(singular)}Create` },
      success: { status: 201, description: `The ${singular}`, ...responseBody },
      errorStatuses: [409],
      async handle({ principal, body }) {
        const record = await commands.create(principal.orgId, body)
        return created(`${api.base}${paths.collection}/${record.id}`, { data: present(record) })
      },
    }),
    route({
      ...item,
      id: `${plural}.get`,
      method: 'GET',
      path: paths.item,
      scopes: [read],
      summary: `Read ${article}`,
      success: { status: 200, description: `The ${singular}`, ...responseBody },
      async handle({ principal, params }) {
        return ok({ data: present(await getRecord(deps, repository, principal.orgId, params[id])) })
      },
    }),
    route({
      ...item,
      id: `${plural}.patch`,
      method: 'PATCH',
      path: paths.item,
      scopes: [write],
      summary: `Update ${article}`,
      description:
        'JSON merge patch (RFC 7396). For optimistic locking, send `updated_at` as last read: if another write has happened since, the request is rejected.',
      body: { ...api.patch, mediaType: 'application/merge-patch+json', name: `${capitalize(singular)}Patch` },
      success: { status: 200, description: `The ${singular}`, ...responseBody },
      errorStatuses: api.patch.errorStatuses,
      // Problems with server-managed fields are reported before any other problem of the body.
      async ensureExists({ principal, params, body }) {
        const current = await getRecord(deps, repository, principal.orgId, params[id])
        throwIfAny(serverManagedErrors(body ?? {}, current))
      },
      async handle({ principal, params, body }) {
        return ok({ data: present(await commands.change(principal.orgId, params[id], body)) })
      },
    }),
    route({
      ...item,
      id: `${plural}.delete`,
      method: 'DELETE',
      path: paths.item,
      scopes: [write],
      summary: `Delete ${article}`,
      description: api.remove.description,
      success: { status: 204, description: 'Deleted' },
      errorStatuses: api.remove.errorStatuses,
      async handle({ principal, params }) {
        await commands.remove(principal.orgId, params[id])
        return noContent
      },
    }),
    route({
      ...item,
      id: `${plural}.rename`,
      method: 'POST',
      path: paths.rename,
      scopes: [write],
      summary: `Change the key of ${article}`,
      description: 'A request with the current key changes nothing.',
      body: { mediaType: 'application/json', name: 'Rename', shape: renameBody, example: { external_key: 'NEW-KEY' } },
      success: {
        status: 200,
        description: `The ${singular} under its new key`,
        schema: envelope(Renamed),
        example: envelopeExample(Renamed),
      },
      errorStatuses: [409],
      async handle({ principal, params, body }) {
        const { record, descendantCount } = await commands.rename(principal.orgId, params[id], body.external_key)
        return ok({ data: { ...present(record), descendant_count_affected: descendantCount } })
      },
    }),
    route({
      ...item,
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
      success: { status: 201, description: 'The tag', schema: envelope(TagOut), example: envelopeExample(TagOut) },
      errorStatuses: [409],
      async handle({ principal, params, body }) {
        const tag = await attachTag(deps, repository, principal.orgId, params[id], draftOf(body))
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
      async handle({ principal, params }) {
        await detachTag(deps, repository, principal.orgId, params[id], params.tag_id)
        return noContent
      },
    }),
  ]
}
