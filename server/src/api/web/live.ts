import { type AnyRoute, route } from '../../http/route.ts'
import type { Live, LiveEvent } from '../../tracking/live.ts'
import { presentMove } from './moves.ts'

const heartbeatMs = 15_000

const frame = (event: LiveEvent): string => {
  if (event.kind !== 'move') return `event: ${event.kind}\ndata: {}\n\n`
  return `event: move\nid: ${event.move.deliveryId}\ndata: ${JSON.stringify(presentMove(event.move))}\n\n`
}

/** Moves and reader activity as they happen. `gap` means that something may have been missed: read the report again. */
export function liveRoute(live: Live): AnyRoute {
  return route({
    id: 'live',
    method: 'GET',
    path: '/live',
    group: 'Live',
    access: 'any',
    scopes: ['tracking:read'],
    summary: 'Moves and reader activity as they happen',
    success: { status: 200, description: 'A stream of server-sent events' },
    async handle({ caller }) {
      return {
        status: 200,
        stream(write, closed) {
          write(': watching\n\n')
          live.watch(caller.orgId, (event) => write(frame(event)), closed)
          const timer = setInterval(() => write(': still here\n\n'), heartbeatMs)
          closed.addEventListener('abort', () => clearInterval(timer))
        },
      }
    },
  })
}
