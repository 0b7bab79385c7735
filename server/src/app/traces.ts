import { DiagLogLevel, diag } from '@opentelemetry/api'
import type { Logger } from 'pino'
import { setTracer } from '../kernel/tracing.ts'
import { version } from '../kernel/version.ts'

/** Instead of the SDK's 10 seconds: a process that stops waits as long for a collector that cannot be reached. */
const defaultTimeoutMs = 3000

/** Sends the spans that are left. Never rejects. */
export type StopTraces = () => Promise<void>

/**
 * Exports traces to the collector of `OTEL_EXPORTER_OTLP_ENDPOINT`. The SDK reads its standard variables itself, and is
 * loaded only with an endpoint. While the collector cannot be reached, the SDK drops spans, and nothing waits for them.
 */
export async function startTraces(env: NodeJS.ProcessEnv, log: Logger): Promise<StopTraces> {
  if (!env['OTEL_EXPORTER_OTLP_ENDPOINT'] && !env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']) return async () => undefined
  env['OTEL_EXPORTER_OTLP_TIMEOUT'] ??= String(defaultTimeoutMs)
  const [sdk, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ])
  const warn = (message: string): void => log.warn({ event: 'traces.failed' }, message)
  const ignore = (): void => undefined
  diag.setLogger({ error: warn, warn, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.WARN)
  const service = { 'service.name': 'lastseen', 'service.version': version }
  const detected = resources.detectResources({ detectors: [resources.envDetector] })
  const provider = new sdk.NodeTracerProvider({
    resource: resources.defaultResource().merge(resources.resourceFromAttributes(service)).merge(detected),
    spanProcessors: [new sdk.BatchSpanProcessor(new OTLPTraceExporter())],
  })
  provider.register()
  setTracer(provider.getTracer('lastseen', version))
  return async () => {
    setTracer(null)
    await provider.shutdown().catch((error: unknown) => warn(String(error)))
  }
}
