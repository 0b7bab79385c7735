import { request } from 'undici'
import type { TestApp } from './app.ts'

export interface StreamEvent {
  event: string
  id: string | undefined
  // Tests read properties of events without types.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  data: any
}

/** A client of server-sent events that records every event. */
export class EventStream {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly events: StreamEvent[] = []
  readonly comments: string[] = []
  isOver = false
  /** The last id that the server sent, with an event or alone. */
  lastId: string | undefined
  readonly #stop: AbortController

  private constructor(status: number, headers: Record<string, string | string[] | undefined>, stop: AbortController) {
    this.status = status
    this.headers = headers
    this.#stop = stop
  }

  static async open(
    app: TestApp,
    token: string,
    { lastEventId, base = '/api/v1' }: { lastEventId?: string; base?: string } = {},
  ): Promise<EventStream> {
    const stop = new AbortController()
    const headers = {
      ...{ authorization: `Bearer ${token}`, 'user-agent': 'lastseen-tests' },
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    }
    const response = await request(`${app.url}${base}/live`, { headers, signal: stop.signal, bodyTimeout: 0 })
    const stream = new EventStream(response.statusCode, response.headers, stop)
    void stream.#follow(response.body)
    while (stream.comments.length === 0 && !stream.isOver) await new Promise((resume) => setTimeout(resume, 5))
    return stream
  }

  /** The events of one kind. */
  of(kind: string): StreamEvent[] {
    return this.events.filter((one) => one.event === kind)
  }

  close(): void {
    this.#stop.abort()
  }

  async #follow(body: AsyncIterable<Buffer>): Promise<void> {
    let rest = ''
    try {
      for await (const chunk of body) {
        const frames = (rest + chunk.toString()).split('\n\n')
        rest = frames.pop() ?? ''
        for (const frame of frames) this.#take(frame)
      }
    } catch {
      // The test closed the stream.
    }
    this.isOver = true
  }

  #take(frame: string): void {
    const fields = new Map<string, string>()
    for (const line of frame.split('\n')) {
      const colon = line.indexOf(':')
      const [name, value] = [line.slice(0, colon), line.slice(colon + 1).trim()]
      if (name === '') this.comments.push(value)
      else fields.set(name, value)
    }
    this.lastId = fields.get('id') ?? this.lastId
    const event = fields.get('event')
    if (event !== undefined)
      this.events.push({ event, id: fields.get('id'), data: JSON.parse(fields.get('data') ?? '{}') })
  }
}
