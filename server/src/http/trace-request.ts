import { SpanKind, inRootSpan, setFailed } from '../kernel/tracing.ts'
import type { RequestContext } from './request-context.ts'

const maxPathLength = 1024

/** Answers a request in a server span. Its path is the one of the log, without the query and without secrets. */
export function traceRequest(context: RequestContext, respond: () => Promise<void>): Promise<void> {
  const { request, method } = context
  return inRootSpan(
    () => ({ name: method, kind: SpanKind.SERVER, attributes: { 'http.request.method': method } }),
    async (span) => {
      await respond()
      if (span === null) return
      const { route, operation, orgId, loggedPath, response } = context
      span.updateName(operation)
      span.setAttribute('url.path', loggedPath.slice(0, maxPathLength))
      span.setAttribute('http.response.status_code', response.statusCode)
      if (route !== null) span.setAttribute('http.route', route)
      if (orgId !== null) span.setAttribute('lastseen.org_id', orgId)
      if (response.statusCode >= 500) setFailed(span, response.statusCode)
    },
    request.headers,
  )
}
