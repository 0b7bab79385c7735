import { sleep } from '../lib/sleep.ts'
import { untilConnected } from './connection.ts'
import { openWithSession } from './request.ts'
import type { Move } from './types.ts'

export type LiveEvent = { kind: 'move'; move: Move } | { kind: 'readers' } | { kind: 'gap' }
export type LiveState = 'connecting' | 'live' | 'broken'

type Listener = (events: readonly LiveEvent[]) => void

const listeners = new Set<Listener>()
const stateListeners = new Set<() => void>()
let state: LiveState = 'connecting'
let connection: AbortController | null = null

/** Events are delivered in batches, so that the app renders a few times per second however many events arrive. */
const batchMs = 250
let batch: LiveEvent[] = []
let timer: ReturnType<typeof setTimeout> | null = null

function setState(next: LiveState): void {
  if (next === state) return
  state = next
  for (const listener of stateListeners) listener()
}

function enqueue(event: LiveEvent): void {
  batch.push(event)
  timer ??= setTimeout(() => {
    const events = batch
    batch = []
    timer = null
    for (const listener of listeners) listener(events)
  }, batchMs)
}

/** Parses one frame of the event stream: the lines up to an empty line. */
function parse(frame: string): LiveEvent | null {
  const field = (name: string): string =>
    frame
      .split('\n')
      .filter((line) => line.startsWith(`${name}: `))
      .map((line) => line.slice(name.length + 2))
      .join('\n')
  const kind = field('event')
  if (kind === 'move') return { kind, move: JSON.parse(field('data')) as Move }
  return kind === 'readers' || kind === 'gap' ? { kind } : null
}

/** The server sends something every 15 seconds. A connection that was silent for longer than two such periods is dead. */
const silenceMs = 40_000

async function readStream(response: Response): Promise<void> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let watchdog: ReturnType<typeof setTimeout> | undefined
  const watch = (): void => {
    clearTimeout(watchdog)
    // This ends the pending read.
    watchdog = setTimeout(() => void reader.cancel(), silenceMs)
  }
  let rest = ''
  for (;;) {
    watch()
    const { done, value } = await reader.read().finally(() => clearTimeout(watchdog))
    if (done) return
    rest += value
    const frames = rest.split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const event = parse(frame)
      if (event !== null) enqueue(event)
    }
  }
}

/** Keeps the stream open until the signal aborts. After a reconnect, a gap event says that events may be missing. */
async function stayConnected(signal: AbortSignal): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    try {
      const response = await openWithSession('/live', {}, { signal, headers: { Accept: 'text/event-stream' } })
      if (failures > 0) enqueue({ kind: 'gap' })
      failures = 0
      setState('live')
      await readStream(response)
    } catch {
      // The state below shows the failure, and the loop connects again.
    }
    if (signal.aborted) return
    setState(failures === 0 ? 'connecting' : 'broken')
    failures++
    await sleep(Math.min(1000 * 2 ** failures, 20_000))
    await untilConnected()
  }
}

/** Subscribes to live events. The stream is open while there is a subscriber. */
export function subscribeToLive(listener: Listener): () => void {
  listeners.add(listener)
  if (connection === null) {
    connection = new AbortController()
    void stayConnected(connection.signal)
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    connection?.abort()
    connection = null
  }
}

export const liveState = (): LiveState => state

export function subscribeToLiveState(listener: () => void): () => void {
  stateListeners.add(listener)
  return () => stateListeners.delete(listener)
}
