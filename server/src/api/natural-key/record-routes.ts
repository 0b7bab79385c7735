import type { QueryOf, QuerySpec } from '../../http/validation/query.ts'
import { type AnyRoute, created, noContent, ok, route } from '../../http/route.ts'
import type { Infer, Shape } from '../../http/validation/schema.ts'
import { type Component, pageExample, pageOf, envelope, envelopeExample } from '../../http/openapi/response-schema.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { type Repository, attachTag, detachTag, getRecord } from '../../records/commands.ts'
import type { RecordDeps, RecordCore } from '../../records/record.ts'
import { listAnswer } from '../shared/wire.ts'
import { IdentifierOut, draftOf, identifierBody, presentIdentifier } from './wire.ts'

/** A record as paths name it. */
interface KeyRef {
  key: string
}

/** What one kind of record brings to the seven operations that every kind has. */
export interface RecordApi<R extends RecordCore, C extends Shape, U extends Shape, Q extends object> {
  base: string
  repository: Repository<R>
  /** Written out, so that a search for a path finds its resource. */
  paths: Record<'collection' | 'item' | 'identifiers' | 'identifier', string>
  singular: 'asset' | 'location'
  /** Words that stand where a path has the key, and so hide the record with that key. */
  fixedWords: readonly string[]
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
 * The key as a path segment. A key that reads like a fixed word has its first letter percent-encoded: the router compares
 * segments before they are decoded.
 */
function segmentOf(key: string, fixedWords: readonly string[]): string {
  if (!fixedWords.includes(key)) return encodeURIComponent(key)
  return `%${key.charCodeAt(0).toString(16).toUpperCase()}${key.slice(1)}`
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

export function recordRoutes<R extends RecordCore, C extends Shape, U extends Shape, Q extends object>(
  deps: RecordDeps,
  api: RecordApi<R, C, U, Q>,
): AnyRoute[] {
  const { singular, repository, paths, out, present, commands } = api
  const plural = `${singular}s`
  const article = singular === 'asset' ? 'an asset' : 'a location'
  const [read, write] = [`${plural}:read`, `${plural}:write`]
  const common = { group: capital(plural), access: 'any' } as const
  const one = {
    ...common,
    keys: ['identifier'],
    ensureExists: async (call: { principal: { orgId: number }; params: { identifier: string } }): Promise<void> => {
      await getRecord(deps, repository, call.principal.orgId, { key: call.params.identifier })
    },
  } as const
  const whole = { schema: envelope(out), example: envelopeExample(out) }

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
      body: { ...api.create, mediaType: 'application/json', name: `${capital(singular)}Create` },
      success: { status: 201, description: `The ${singular}`, ...whole },
      errorStatuses: [409],
      async handle({ principal, body }) {
        const record = await commands.create(principal.orgId, body)
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
      async handle({ principal, params }) {
        return ok({ data: present(await getRecord(deps, repository, principal.orgId, { key: params.identifier })) })
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
      errorStatuses: [409],
      async handle({ principal, params, body }) {
        return ok({ data: present(await commands.change(principal.orgId, { key: params.identifier }, body)) })
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
      errorStatuses: api.remove.errorStatuses,
      async handle({ principal, params }) {
        await commands.remove(principal.orgId, { key: params.identifier })
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
