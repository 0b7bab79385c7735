import { type AnyRoute, route } from '../../http/route.ts'
import type { OpenStreams } from '../../auth/open-streams.ts'
import type { LiveFeed, LiveEvent } from '../../tracking/live-feed.ts'
import { MoveOut, presentMove } from './moves.ts'

const heartbeatMs = 15_000

const moveFrame = (move: ReturnType<typeof presentMove>): string =>
  `event: move\nid: ${move.delivery_id}\ndata: ${JSON.stringify(move)}\n\n`

const render = (event: LiveEvent): string =>
  event.kind === 'move' ? moveFrame(presentMove(event.move)) : `event: ${event.kind}\ndata: {}\n\n`

const rendered = new WeakMap<readonly LiveEvent[], string>()

/** All streams of an organization receive the same events, so each batch is rendered once. */
function frames(events: readonly LiveEvent[]): string {
  const text = rendered.get(events) ?? events.map(render).join('')
  rendered.set(events, text)
  return text
}

const description = `Server-sent events of the organization, from the moment the stream opens; docs/live.md is the guide.

- \`move\`: an asset moved. \`data\` is a Move as in GET /moves, \`id\` is its delivery_id.
- \`readers\`: readers were active. \`data\` is {}.
- \`gap\`: events may be missing; read the report or the list of moves again. \`data\` is {}. It is the last event of a
  stream that the server ends because the client reads too slowly and more than 64 KiB are buffered for it.

A comment is sent when the stream opens and every 15 seconds. Events are not replayed; Last-Event-ID has no effect.`

const watching = ': watching\n\n'

/** Streams moves and reader activity as server-sent events. */
export function liveRoute(live: LiveFeed, streams: OpenStreams): AnyRoute {
  return route({
    id: 'live',
    method: 'GET',
    path: '/live',
    group: 'Live',
    access: 'any',
    scopes: ['tracking:read'],
    summary: 'Stream moves and reader activity',
    description,
    success: {
      status: 200,
      description: 'A stream of server-sent events',
      mediaType: 'text/event-stream',
      schema: { type: 'string' },
      example: watching + moveFrame(MoveOut.example as ReturnType<typeof presentMove>),
    },
    async handle({ principal }) {
      return {
        status: 200,
        stream(stream) {
          const { closed } = stream
          const send = (text: string): void => {
            if (stream.write(text)) return
            stream.write(render({ kind: 'gap' }))
            stream.end()
          }
          streams.add({ principal, end: () => stream.end(), closed })
          send(watching)
          live.watch(principal.orgId, (events) => send(frames(events)), closed)
          const timer = setInterval(() => send(': still here\n\n'), heartbeatMs)
          closed.addEventListener('abort', () => clearInterval(timer))
        },
      }
    },
  })
}
