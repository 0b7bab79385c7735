import {
  type Attributes,
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

interface SpanDescription {
  name: string
  kind: SpanKind
  attributes: Attributes
}

/** Work that gets its span, or null when it is not traced. It is called synchronously. */
type Traced<Result> = (span: Span | null) => Promise<Result>

async function runIn<Result>(span: Span, parent: typeof ROOT_CONTEXT, work: Traced<Result>): Promise<Result> {
  try {
    return await context.with(trace.setSpan(parent, span), work, undefined, span)
  } catch (error) {
    setFailed(span, (error as { code?: unknown }).code)
    throw error
  } finally {
    span.end()
  }
}

/** Messages of errors can contain values of a tenant, so a span gets only the code. */
export function setFailed(span: Span, code: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR })
  span.setAttribute('error.type', typeof code === 'string' || typeof code === 'number' ? String(code) : '_OTHER')
}

/**
 * Runs work that has no caller in this process, such as a request: in the first span of a new trace, or of the trace that
 * the headers name (`traceparent` of W3C Trace Context).
 */
export function inRootSpan<Result>(
  describe: () => SpanDescription,
  work: Traced<Result>,
  headers: object = {},
): Promise<Result> {
  if (tracer === null) return work(null)
  const parent = propagation.extract(ROOT_CONTEXT, headers)
  const { name, ...options } = describe()
  return runIn(tracer.startSpan(name, options, parent), parent, work)
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
  const parent = context.active()
  const { name, ...options } = describe()
  return runIn(tracer.startSpan(name, options, parent), parent, work)
}

const isTraced = (span: Span, mayHaveEnded: boolean): boolean =>
  mayHaveEnded ? (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0 : span.isRecording()
