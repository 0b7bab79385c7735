import { SerialQueue } from './serial-queue.ts'
import type { OpenStreams } from '../../auth/open-streams.ts'
import { type AnyRoute, type EventStream, route } from '../../http/route.ts'
import { instantFromMillis, millisOf } from '../../kernel/instant.ts'
import type { Quotas } from '../../organizations/quotas.ts'
import { type LiveEvent, type LiveFeed, maxReplayedMoves } from '../../tracking/live-feed.ts'
import type { MovePosition } from '../../tracking/moves.sql.ts'
import { MoveOut, presentMove } from './moves.ts'

export interface LiveDeps {
  live: LiveFeed
  streams: OpenStreams
  quotas: Quotas
}

const heartbeatMs = 15_000

/** The event id is the position of the move: when it was recorded, in milliseconds, and its delivery id. */
const idOf = ({ recordedAt, deliveryId }: MovePosition): string => `${millisOf(recordedAt)}.${deliveryId}`

function positionOf(id: string): MovePosition | null {
  const [, millis, deliveryId] = /^(\d{1,13})\.([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/.exec(id) ?? []
  if (millis === undefined || deliveryId === undefined) return null
  return { recordedAt: instantFromMillis(Number(millis)), deliveryId }
}

const moveFrame = (id: string, move: ReturnType<typeof presentMove>): string =>
  `event: move\nid: ${id}\ndata: ${JSON.stringify(move)}\n\n`

const render = (event: LiveEvent): string =>
  event.kind === 'move' ? moveFrame(idOf(event.move), presentMove(event.move)) : `event: ${event.kind}\ndata: {}\n\n`

const rendered = new WeakMap<readonly LiveEvent[], string>()

/** All streams of an organization receive the same events, so each batch is rendered once. */
function frames(events: readonly LiveEvent[]): string {
  const text = rendered.get(events) ?? events.map(render).join('')
  rendered.set(events, text)
  return text
}

const description = `Server-sent events of the organization; docs/live.md is the guide.

- \`move\`: an asset moved. \`data\` is a Move. Deduplicate by \`delivery_id\`.
- \`readers\`: readers were active. \`data\` is {}.
- \`gap\`: events may be missing; read the report or the moves again. \`data\` is {}. It is the last event of a stream that
  the server ends because the client reads too slowly and more than 64 KiB are buffered for it.

A comment is sent when the stream opens and every 15 seconds. A client that reconnects with the \`id\` of the last event in
\`Last-Event-ID\` gets the moves since then, at most ${maxReplayedMoves} of the last 24 hours; otherwise \`gap\` says that they are
not sent. Moves of the ten seconds before that event may come again.`

const lastEventHeader = {
  name: 'Last-Event-ID',
  description: 'The id of the last event that the client received.',
  schema: { type: 'string' },
}

const watching = ': watching\n\n'
const idFrame = (position: MovePosition): string => `id: ${idOf(position)}\n\n`

/** Events that arrive while earlier moves are replayed. Above this number they are replaced by a gap. */
const maxBufferedEvents = 1000

interface Subscription {
  orgId: number
  /** The moves that were committed before the stream was opened, which it does not get. */
  earlier: readonly MovePosition[]
  stream: EventStream
  send: (text: string) => void
}

/**
 * Sends the moves since the last event of the client, then the events that arrived meanwhile. `inTurn` runs one replay of a
 * client at a time.
 */
async function resume(
  live: LiveFeed,
  { orgId, earlier, stream, send }: Subscription,
  lastId: string,
  inTurn: (work: () => Promise<void>) => Promise<void>,
) {
  let buffered: LiveEvent[] | null = []
  live.watch(
    orgId,
    earlier,
    (events) => {
      if (buffered === null) send(frames(events))
      else if (buffered.length < maxBufferedEvents) buffered.push(...events)
    },
    stream.closed,
  )
  const opened = live.position()
  const last = positionOf(lastId)
  const replayed = new Set<string>()
  await inTurn(async () => {
    if (stream.closed.aborted) return
    const batches = last === null ? null : await live.replay(orgId, last)
    if (batches === null) return send(render({ kind: 'gap' }))
    for await (const moves of batches) {
      if (stream.closed.aborted) return
      for (const move of moves) replayed.add(move.deliveryId)
      stream.write(moves.map((move) => render({ kind: 'move', move })).join(''))
      await stream.drained()
    }
  })
  if (stream.closed.aborted) return
  const missed = buffered.filter((event) => event.kind !== 'move' || !replayed.has(event.move.deliveryId))
  if (buffered.length >= maxBufferedEvents) missed.push({ kind: 'gap' })
  buffered = null
  send(idFrame(opened) + missed.map(render).join(''))
}

/** Streams moves and reader activity as server-sent events. */
export function liveRoute(deps: LiveDeps): AnyRoute {
  // A user or API key has one replay at a time.
  const replays = new SerialQueue()
  return route({
    id: 'live',
    method: 'GET',
    path: '/live',
    group: 'Live',
    access: 'any',
    scopes: ['tracking:read'],
    summary: 'Stream moves and reader activity',
    description,
    headers: [lastEventHeader],
    success: {
      status: 200,
      description: 'A stream of server-sent events',
      mediaType: 'text/event-stream',
      schema: { type: 'string' },
      example: watching + moveFrame('1777882502120.0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11', MoveOut.example as never),
    },
    async handle({ principal, header }) {
      const { orgId } = principal
      const { live, streams, quotas } = deps
      const lastId = header(lastEventHeader.name)
      const [earlier, maxStreams] = await Promise.all([live.earlierMoves(orgId), quotas.limit(orgId, 'live_streams')])
      return {
        status: 200,
        stream(stream) {
          const { closed } = stream
          const send = (text: string): void => {
            if (stream.write(text)) return
            stream.write(render({ kind: 'gap' }))
            stream.end()
          }
          streams.add({ principal, end: () => stream.end(), closed }, maxStreams)
          send(watching)
          if (lastId === undefined) {
            live.watch(orgId, earlier, (events) => send(frames(events)), closed)
            send(idFrame(live.position()))
          } else {
            const inTurn = (work: () => Promise<void>) => replays.run(`${principal.kind} ${principal.subject}`, work)
            void resume(live, { orgId, earlier, stream, send }, lastId, inTurn).catch(() => stream.end())
          }
          const timer = setInterval(() => send(': still here\n\n'), heartbeatMs)
          closed.addEventListener('abort', () => clearInterval(timer))
        },
      }
    },
  })
}
