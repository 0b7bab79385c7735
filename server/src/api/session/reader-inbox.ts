import { listOf, oneOf, record, id } from '../../http/validation/fields.ts'
import { limit, offset } from '../../http/validation/query.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { nullable } from '../../http/validation/schema.ts'
import { type Component, type Output, component, pageOf, envelope } from '../../http/openapi/response-schema.ts'
import { formatMillis } from '../../kernel/instant.ts'
import { unknownTopics } from '../../readers/commands.ts'
import { type UnknownTopic, topicKeyIn } from '../../readers/unknown.sql.ts'
import type { RecordDeps } from '../../records/record.ts'
import { tagTypes } from '../../tags/tag.ts'
import { type UnknownTag, listUnknownTags } from '../../tracking/unknown-tags.sql.ts'
import { line, timestamp, whole } from './fields.ts'
import { antenna } from './reader-wire.ts'

const UnknownTagOut = component(
  'UnknownTag',
  {
    tag_type: oneOf(tagTypes),
    value: line,
    reader_id: nullable(id),
    antenna: nullable(antenna),
    reads: whole,
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
  topic: line,
  topic_key: nullable(line),
  messages: whole,
  first_seen_at: timestamp,
  last_seen_at: timestamp,
}

const UnknownReadersOut = component(
  'UnknownReaders',
  { reason: nullable(oneOf(['several_organizations'])), topics: listOf(record(topic)) },
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

export const inboxComponents = [UnknownTagOut, UnknownReadersOut] as Component[]

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
export function inboxRoutes(deps: RecordDeps): AnyRoute[] {
  const common = { group: 'Readers', method: 'GET', access: 'session' } as const
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
