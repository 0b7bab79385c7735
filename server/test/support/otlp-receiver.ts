import { type IncomingHttpHeaders, type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId: string | null
  name: string
  kind: number
  isFailed: boolean
  links: { traceId: string; spanId: string }[]
  attributes: Record<string, string | number>
  resource: Record<string, string | number>
}

interface KeyValue {
  key: string
  value: { stringValue?: string; intValue?: number | string; doubleValue?: number }
}

interface TraceData {
  resourceSpans: {
    resource: { attributes: KeyValue[] }
    scopeSpans: {
      spans: (Omit<ReceivedSpan, 'parentSpanId' | 'attributes' | 'isFailed' | 'resource'> & {
        parentSpanId?: string
        attributes: KeyValue[]
        status: { code?: number }
      })[]
    }[]
  }[]
}

const recordOf = (list: readonly KeyValue[]): Record<string, string | number> =>
  Object.fromEntries(
    list.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue ?? value.doubleValue)]),
  )

/** A collector that receives spans over OTLP/HTTP in JSON. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = []
  readonly requests: { path: string | undefined; headers: IncomingHttpHeaders }[] = []
  readonly #server: Server

  private constructor(respondsNever: boolean) {
    this.#server = createServer((request, response) => {
      this.requests.push({ path: request.url, headers: request.headers })
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        if (respondsNever) return
        this.#take(JSON.parse(Buffer.concat(chunks).toString()) as TraceData)
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      })
    })
  }

  static async open({ respondsNever = false } = {}): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver(respondsNever)
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve))
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  named(name: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.name === name)
  }

  childrenOf({ traceId, spanId }: ReceivedSpan): ReceivedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId && span.parentSpanId === spanId)
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  #take({ resourceSpans }: TraceData): void {
    for (const { resource, scopeSpans } of resourceSpans)
      for (const span of scopeSpans.flatMap(({ spans }) => spans))
        this.spans.push({
          ...span,
          parentSpanId: span.parentSpanId ?? null,
          isFailed: span.status.code === 2,
          attributes: recordOf(span.attributes),
          resource: recordOf(resource.attributes),
        })
  }
}
