import { type Clock, raceAbort } from './clock.ts'
import { LastseenError, NetworkError } from './errors.ts'
import { checkNames } from './options.ts'
import type { Primary } from './surfaces.ts'
import { backoffMs } from './transport.ts'
import type { Move } from './types.ts'

/** An event of the live stream. `id` is the position after it, from which another stream can resume. */
export type LiveEvent =
  | { type: 'move'; id: string; move: Move }
  /** Readers of the organization sent messages. */
  | { type: 'readers'; id: string | undefined }
  /** Moves may be missing: read the report or export the moves. */
  | { type: 'gap'; id: string | undefined }

/** Options of `live`. */
export interface LiveOptions {
  /** Ends the stream. */
  signal?: AbortSignal | undefined
  /** Resumes after the event with this id, for example of an earlier run of the program. */
  lastEventId?: string | undefined
}

/** The server sends something every 15 seconds. */
const idleMs = 40_000
const maxBackoffMs = 20_000
/** Moves of the ten seconds before a position may come again. */
const rememberedMoves = 10_000

interface Frame {
  event: string
  data: string
  id: string | undefined
}

/** Parses a frame of server-sent events: the lines up to an empty line. */
function parseFrame(text: string): Frame {
  const frame: Frame = { event: '', data: '', id: undefined }
  for (const line of text.split('\n')) {
    const [, name, value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? []
    if (name === 'event') frame.event = value
    else if (name === 'id') frame.id = value
    else if (name === 'data') frame.data += frame.data === '' ? value : `\n${value}`
  }
  return frame
}

/**
 * Yields the frames of a response. Throws a NetworkError when it is interrupted or nothing arrives for too long. The signal
 * is awaited here, because Node.js 20 may collect the link between the signal of a request and its response as garbage.
 */
async function* framesOf(response: Response, signal: AbortSignal | undefined): AsyncGenerator<Frame> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      let timer: ReturnType<typeof setTimeout> | undefined
      const idle = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => reject(new NetworkError(`The live stream sent nothing for ${idleMs} ms`)), idleMs)
      })
      const read = raceAbort(reader.read(), signal).catch((error: unknown) => {
        throw new NetworkError('The live stream was interrupted', { cause: error })
      })
      const { done, value } = await Promise.race([read, idle]).finally(() => clearTimeout(timer))
      if (done) return
      const frames = (rest + value).split('\n\n')
      rest = frames.pop() ?? ''
      for (const frame of frames) yield parseFrame(frame)
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** Errors that another attempt may solve. Any other one, such as a missing scope, ends the stream. */
const isTemporary = (error: unknown): boolean =>
  error instanceof NetworkError || (error instanceof LastseenError && (error.status >= 500 || error.status === 429))

export async function* watchLive(
  api: Primary,
  clock: Clock,
  options: LiveOptions,
): AsyncGenerator<LiveEvent, void, undefined> {
  checkNames(options, ['signal', 'lastEventId'])
  const { signal, lastEventId } = options
  let lastId = lastEventId
  let failures = 0
  const known = new Set<string>()
  const isNew = ({ delivery_id: id }: Move): boolean => {
    if (known.has(id)) return false
    known.add(id)
    if (known.size > rememberedMoves) known.delete(known.values().next().value!)
    return true
  }
  const isAborted = (): boolean => signal?.aborted ?? false
  while (!isAborted()) {
    try {
      const headers = { Accept: 'text/event-stream', ...(lastId === undefined ? {} : { 'Last-Event-ID': lastId }) }
      const response = await api.open('live', { signal }, { headers, retry: 'rate limit only' })
      for await (const { event, data, id } of framesOf(response, signal)) {
        failures = 0
        lastId = id ?? lastId
        if (event === 'move') {
          const move = JSON.parse(data) as Move
          if (isNew(move)) yield { type: 'move', id: lastId!, move }
        } else if (event === 'readers' || event === 'gap') yield { type: event, id: lastId }
      }
    } catch (error) {
      if (isAborted()) return
      if (!isTemporary(error)) throw error
    }
    failures++
    await clock.sleep(Math.min(backoffMs(failures, clock.random()), maxBackoffMs), signal).catch(() => undefined)
  }
}
