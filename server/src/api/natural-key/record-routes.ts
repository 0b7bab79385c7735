import type { QueryOf, QuerySpec } from '../../http/validation/parameters.ts'
import { type AnyRoute, created, noContent, ok, route } from '../../http/route.ts'
import type { Infer, Shape } from '../../http/validation/schema.ts'
import { type Component, pageExample, pageOf, envelope, envelopeExample } from '../../http/openapi/response-schema.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { type Repository, attachTag, detachTag, getRecord } from '../../records/commands.ts'
import type { RecordDeps, RecordCore } from '../../records/record.ts'
import { listAnswer } from '../shared/wire.ts'
import { IdentifierOut, draftOf, identifierBody, presentIdentifier } from './wire.ts'

/** A reference to a record by its natural key. */
interface KeyRef {
  key: string
}

/** The parts of the seven record operations that differ between assets and locations. */
export interface RecordApi<R extends RecordCore, C extends Shape, U extends Shape, Q extends object> {
  base: string
  repository: Repository<R>
  /** Written in full, so that a text search for a path finds its route. */
  paths: Record<'collection' | 'item' | 'identifiers' | 'identifier', string>
  singular: 'asset' | 'location'
  /** Fixed segments that share a position with the key in paths, and so hide a record with that key. */
  fixedSegments: readonly string[]
  out: Component
  present: (record: R) => object
  create: { shape: C; example: object; description: string }
  update: { shape: U; example: object; description: string }
  remove: { description: string; errorStatuses: readonly number[] }
  query: QuerySpec<Q>
  commands: {
    list: (orgId: number, query: QueryOf<Q> & PageRequest) => Promise<Page<R>>
    create: (orgId: number, body: Infer<C>) => Promise<R>
    change: (orgId: number, ref: KeyRef, body: Infer<U>) => Promise<R>
    remove: (orgId: number, ref: KeyRef) => Promise<void>
  }
}

/**
 * Returns the key as a path segment. If the key equals a fixed segment, its first letter is percent-encoded, because the
 * router compares segments before they are decoded.
 */
function segmentOf(key: string, fixedSegments: readonly string[]): string {
  if (!fixedSegments.includes(key)) return encodeURIComponent(key)
  return `%${key.charCodeAt(0).toString(16).toUpperCase()}${key.slice(1)}`
}

const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

export function recordRoutes<R extends RecordCore, C extends Shape, U extends Shape, Q extends object>(
  deps: RecordDeps,
  api: RecordApi<R, C, U, Q>,
): AnyRoute[] {
  const { singular, repository, paths, out, present, commands } = api
  const plural = `${singular}s`
  const article = singular === 'asset' ? 'an asset' : 'a location'
  const [read, write] = [`${plural}:read`, `${plural}:write`]
  const common = { group: capitalize(plural), access: 'any' } as const
  const item = {
    ...common,
    keys: ['identifier'],
    ensureExists: async (call: { principal: { orgId: number }; params: { identifier: string } }): Promise<void> => {
      await getRecord(deps, repository, call.principal.orgId, { key: call.params.identifier })
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
      description: `Lists ${plural} that are valid now.`,
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
        const segment = segmentOf(record.externalKey, api.fixedSegments)
        return created(`${api.base}${paths.collection}/${segment}`, { data: present(record) })
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
        return ok({ data: present(await getRecord(deps, repository, principal.orgId, { key: params.identifier })) })
      },
    }),
    route({
      ...item,
      id: `${plural}.update`,
      method: 'PUT',
      path: paths.item,
      scopes: [write],
      summary: `Update ${article}`,
      description: api.update.description,
      body: { ...api.update, mediaType: 'application/json', name: `${capitalize(singular)}Update` },
      success: { status: 200, description: `The ${singular}`, ...responseBody },
      errorStatuses: [409],
      async handle({ principal, params, body }) {
        return ok({ data: present(await commands.change(principal.orgId, { key: params.identifier }, body)) })
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
        await commands.remove(principal.orgId, { key: params.identifier })
        return noContent
      },
    }),
    route({
      ...item,
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
        schema: envelope(IdentifierOut),
        example: envelopeExample(IdentifierOut),
      },
      errorStatuses: [409],
      async handle({ principal, params, body }) {
        const tag = await attachTag(deps, repository, principal.orgId, { key: params.identifier }, draftOf(body))
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
      async handle({ principal, params }) {
        await detachTag(deps, repository, principal.orgId, { key: params.identifier }, params.identifierId)
        return noContent
      },
    }),
  ]
}
