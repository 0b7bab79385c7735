import { apiUrl } from './base-url.ts'
import { accessToken, refreshSession } from './session.ts'
import type { Move } from './types.ts'

export type LiveEvent = { kind: 'move'; move: Move } | { kind: 'readers' } | { kind: 'gap' }
export type LiveState = 'connecting' | 'live' | 'broken'

type Listener = (events: readonly LiveEvent[]) => void

const listeners = new Set<Listener>()
const stateListeners = new Set<() => void>()
let state: LiveState = 'connecting'
let stop: AbortController | null = null

/** Events are handed over in batches, so that a busy site costs few renderings. */
const gatherMs = 250
let gathered: LiveEvent[] = []
let timer: ReturnType<typeof setTimeout> | null = null

function setState(next: LiveState): void {
  if (next === state) return
  state = next
  for (const listener of stateListeners) listener()
}

function hand(event: LiveEvent): void {
  gathered.push(event)
  timer ??= setTimeout(() => {
    const events = gathered
    gathered = []
    timer = null
    for (const listener of listeners) listener(events)
  }, gatherMs)
}

/** One frame of the stream: lines up to an empty one. */
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

async function readStream(response: Response): Promise<void> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    rest += value
    const frames = rest.split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const event = parse(frame)
      if (event !== null) hand(event)
    }
  }
}

const pause = (ms: number): Promise<void> => new Promise((resume) => setTimeout(resume, ms))

/** Stays connected until told to stop. After a break everybody is told that something may have been missed. */
async function collectErrors(signal: AbortSignal): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    try {
      const token = await accessToken()
      const headers = { Authorization: `Bearer ${token}` }
      const response = await fetch(apiUrl('/live'), { headers, signal, cache: 'no-store', credentials: 'omit' })
      if (response.status === 401) await refreshSession(token)
      if (response.ok) {
        if (failures > 0) hand({ kind: 'gap' })
        failures = 0
        setState('live')
        await readStream(response)
      }
    } catch {
      // Told by the state; tried again below.
    }
    if (signal.aborted) return
    setState(failures === 0 ? 'connecting' : 'broken')
    failures++
    await pause(Math.min(1000 * 2 ** failures, 20_000))
  }
}

/** The stream is open while somebody listens. */
export function subscribeToLive(listener: Listener): () => void {
  listeners.add(listener)
  if (stop === null) {
    stop = new AbortController()
    void collectErrors(stop.signal)
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    stop?.abort()
    stop = null
  }
}

export const liveState = (): LiveState => state

export function subscribeToLiveState(listener: () => void): () => void {
  stateListeners.add(listener)
  return () => stateListeners.delete(listener)
}
