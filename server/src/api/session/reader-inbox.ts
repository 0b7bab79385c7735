import { listOf, oneOf, object, id } from '../../http/validation/fields.ts'
import { limit, offset } from '../../http/validation/parameters.ts'
import { type AnyRoute, created, ok, route } from '../../http/route.ts'
import { nullable } from '../../http/validation/schema.ts'
import { type Component, type Output, component, pageOf, envelope } from '../../http/openapi/response-schema.ts'
import { formatMillis } from '../../kernel/instant.ts'
import { unknownTopics } from '../../readers/commands.ts'
import { type UnknownTopic, topicKeyIn } from '../../readers/unknown.sql.ts'
import { assetRepository } from '../../assets/assets.sql.ts'
import { getRecord } from '../../records/commands.ts'
import { nameField, tagBody } from '../../records/fields.ts'
import { type TagDraft, type TagType, tagTypes } from '../../tags/tag.ts'
import type { AssetLocationDeps } from '../../tracking/recording/asset-at-location.ts'
import {
  type AttachedTag,
  attachUnknownTag,
  createAssetWithUnknownTag,
} from '../../tracking/recording/attach-unknown-tag.ts'
import { type UnknownTag, listUnknownTags } from '../../tracking/unknown-tags.sql.ts'
import { timestamp } from '../shared/wire.ts'
import { jsonBody, singleLine, integer, formatNullable } from './fields.ts'
import { antenna } from './reader-wire.ts'

const UnknownTagOut = component(
  'UnknownTag',
  {
    tag_type: oneOf(tagTypes),
    value: singleLine,
    reader_id: nullable(id),
    antenna: nullable(antenna),
    reads: integer,
    first_seen_at: timestamp,
    last_seen_at: timestamp,
  },
  {
    tag_type: 'rfid',
    value: 'E28011700000020A1B2C3D4E',
    reader_id: 8120449930581042,
    antenna: 1,
    reads: 12,
    first_seen_at: '2026-05-04T08:00:00.000Z',
    last_seen_at: '2026-05-04T08:15:02.120Z',
  },
)

const topic = {
  topic: singleLine,
  topic_key: nullable(singleLine),
  messages: integer,
  first_seen_at: timestamp,
  last_seen_at: timestamp,
}

const UnknownReadersOut = component(
  'UnknownReaders',
  { reason: nullable(oneOf(['several_organizations'])), topics: listOf(object(topic)) },
  {
    reason: null,
    topics: [
      {
        topic: 'lastseen/dock-3/reads',
        topic_key: 'dock-3',
        messages: 12,
        first_seen_at: '2026-05-04T08:00:00.000Z',
        last_seen_at: '2026-05-04T08:15:02.120Z',
      },
    ],
  },
)

const AttachedTagOut = component(
  'AttachedTag',
  { asset_id: id, last_read_at: nullable(timestamp) },
  { asset_id: 4503170118275611, last_read_at: '2026-05-04T08:15:02.120Z' },
)

export const inboxComponents = [UnknownTagOut, UnknownReadersOut, AttachedTagOut] as Component[]

const presentAttached = ({ assetId, lastRead }: AttachedTag): Output<(typeof AttachedTagOut)['shape']> => ({
  asset_id: assetId,
  last_read_at: formatNullable(lastRead?.observedAt ?? null),
})

const presentUnknown = (unknown: UnknownTag): Output<(typeof UnknownTagOut)['shape']> => ({
  tag_type: unknown.tag.type,
  value: unknown.tag.value,
  reader_id: unknown.readerId,
  antenna: unknown.antenna,
  reads: unknown.reads,
  first_seen_at: formatMillis(unknown.firstSeenAt),
  last_seen_at: formatMillis(unknown.lastSeenAt),
})

const presentTopic = (topicState: UnknownTopic): Output<typeof topic> => ({
  topic: topicState.topic,
  topic_key: topicKeyIn(topicState.topic),
  messages: topicState.messages,
  first_seen_at: formatMillis(topicState.firstSeenAt),
  last_seen_at: formatMillis(topicState.lastSeenAt),
})

/** Unknown tags, and MQTT topics without a reader. */
export function inboxRoutes(deps: AssetLocationDeps): AnyRoute[] {
  const common = { group: 'Readers', method: 'GET', access: 'session' } as const
  const attaching = {
    ...common,
    method: 'POST',
    scopes: ['assets:write'],
    description: 'The last read of the tag is recorded as a sighting of the asset.',
    success: { status: 201, description: 'The asset and the time of that read', schema: envelope(AttachedTagOut) },
    errorStatuses: [409],
  } as const
  const tag = { tag_type: 'rfid', value: 'E28011700000020A1B2C3D4E' }
  const tagOf = ({ tag_type: type, value }: { tag_type: TagType; value: string }): TagDraft => ({ type, value })
  return [
    route({
      ...common,
      id: 'readers.inbox',
      scopes: ['tracking:read'],
      path: '/readers/inbox',
      summary: 'List tags that were read but are not attached to a record',
      query: { parameters: { limit, offset } },
      success: { status: 200, description: 'A page of tags', schema: pageOf(UnknownTagOut) },
      async handle({ principal, query }) {
        const page = await listUnknownTags(deps.db.read, principal.orgId, query)
        return ok({ data: page.rows.map(presentUnknown), ...query, total_count: page.total })
      },
    }),
    route({
      ...attaching,
      id: 'readers.inbox.attach',
      path: '/readers/inbox/assets/{asset_id}',
      ids: ['asset_id'],
      summary: 'Attach an unknown tag to an asset',
      body: jsonBody('UnknownTagAttach', tagBody, tag),
      async ensureExists({ principal, params }) {
        await getRecord(deps, assetRepository, principal.orgId, params.asset_id)
      },
      async handle({ principal, params, body }) {
        const attached = await attachUnknownTag(deps, principal.orgId, params.asset_id, tagOf(body))
        return { status: 201, body: { data: presentAttached(attached) } }
      },
    }),
    route({
      ...attaching,
      id: 'readers.inbox.create',
      path: '/readers/inbox/assets',
      summary: 'Create an asset with an unknown tag',
      body: jsonBody('UnknownTagAsset', { name: nameField, ...tagBody }, { name: 'Pallet jack 7', ...tag }),
      async handle({ principal, body }) {
        const attached = await createAssetWithUnknownTag(deps, principal.orgId, body.name, tagOf(body))
        return created(`/api/v1/assets/${attached.assetId}`, { data: presentAttached(attached) })
      },
    }),
    route({
      ...common,
      id: 'readers.unknown',
      scopes: ['locations:write'],
      path: '/readers/unknown',
      summary: 'List topics of the external broker that belong to no reader',
      description:
        'The service cannot tell to which organization such a topic belongs. It therefore shows the topics only to the ' +
        'organization in `LASTSEEN_UNKNOWN_READERS_ORG`, or to the only organization of the installation.',
      success: { status: 200, description: 'The topics, latest first', schema: envelope(UnknownReadersOut) },
      async handle({ principal }) {
        const { isShown, topics } = await unknownTopics(deps, principal.orgId)
        return ok({ data: { reason: isShown ? null : 'several_organizations', topics: topics.map(presentTopic) } })
      },
    }),
  ]
}
