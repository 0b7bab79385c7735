import {
  type Attributes,
  type Link,
  type Span,
  type SpanKind,
  type Tracer,
  ROOT_CONTEXT,
  SpanStatusCode,
  TraceFlags,
  context,
  propagation,
  trace,
} from '@opentelemetry/api'

export { type Attributes, type Span, SpanKind } from '@opentelemetry/api'

/** Null unless traces are exported, so that code without traces only makes one comparison. */
let tracer: Tracer | null = null

export function setTracer(value: Tracer | null): void {
  tracer = value
}

/** A span in the form of the header `traceparent` (W3C Trace Context), which another process can continue. */
export type Traceparent = string

interface SpanDescription {
  name: string
  kind: SpanKind
  attributes: Attributes
  /** Spans that led to this one besides its parent. */
  links?: readonly Traceparent[]
}

/** Work that gets its span, or null when it is not traced. It is called synchronously. */
type Traced<Result> = (span: Span | null) => Promise<Result>

async function runIn<Result>(
  by: Tracer,
  parent: typeof ROOT_CONTEXT,
  { name, kind, attributes, links = [] }: SpanDescription,
  work: Traced<Result>,
): Promise<Result> {
  const span = by.startSpan(name, { kind, attributes, links: links.flatMap(linkTo) }, parent)
  try {
    return await context.with(trace.setSpan(parent, span), work, undefined, span)
  } catch (error) {
    setFailed(span, (error as { code?: unknown }).code)
    throw error
  } finally {
    span.end()
  }
}

function linkTo(traceparent: Traceparent): Link[] {
  const linked = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent }))
  return linked === undefined ? [] : [{ context: linked }]
}

/**
 * The active span, for work that starts later or in another process. Null when no span is active, or when the active span is
 * not recorded or has ended.
 */
export function activeTraceparent(): Traceparent | null {
  if (tracer === null || trace.getActiveSpan()?.isRecording() !== true) return null
  const headers: { traceparent?: Traceparent } = {}
  propagation.inject(context.active(), headers)
  return headers.traceparent ?? null
}

/** Messages of errors can contain values of a tenant, so a span gets only the code. */
export function setFailed(span: Span, code: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR })
  span.setAttribute('error.type', typeof code === 'string' || typeof code === 'number' ? String(code) : '_OTHER')
}

/**
 * Runs work whose caller is in another process, or has none, such as a request: in a child of the span that the headers name
 * (`traceparent`), or else in the first span of a new trace.
 */
export function inRootSpan<Result>(
  describe: () => SpanDescription,
  work: Traced<Result>,
  headers: object = {},
): Promise<Result> {
  if (tracer === null) return work(null)
  return runIn(tracer, propagation.extract(ROOT_CONTEXT, headers), describe(), work)
}

/**
 * Runs work in a child of the active span. The work is not traced when no span is active, when the active span is not
 * recorded, or when it has ended: a loop that a request started keeps its span active while it serves later requests. With
 * `mayOutlive` the work is traced after the span has ended, too.
 */
export function inChildSpan<Result>(
  describe: () => SpanDescription,
  work: Traced<Result>,
  { mayOutlive = false } = {},
): Promise<Result> {
  const active = tracer === null ? undefined : trace.getActiveSpan()
  if (tracer === null || active === undefined || !isTraced(active, mayOutlive)) return work(null)
  return runIn(tracer, context.active(), describe(), work)
}

const isTraced = (span: Span, mayHaveEnded: boolean): boolean =>
  mayHaveEnded ? (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0 : span.isRecording()
