import { Registry } from 'prom-client'
import type { RawReply, RawRoute } from '../http/route.ts'
import { isLocal } from '../http/request-headers.ts'
import { isLoopback } from '../kernel/ip-range.ts'
import { sameHash, hashSecret } from '../kernel/secrets.ts'
import { stringify } from 'yaml'
import type { Config } from '../config/config.ts'
import type { ReadinessCheck } from './readiness.ts'
import { referenceRoutes } from './reference.ts'

const plain = (status: number, text: string): RawReply => ({ status, type: 'text/plain; charset=utf-8', text })

const moved = (to: string): RawReply => ({ ...plain(301, `Moved to ${to}\n`), headers: { Location: to } })

/** The documentation routes of a surface: the OpenAPI document as JSON and YAML, and the API reference. */
export function openapiRoutes(prefix: string, title: string, document: object): RawRoute[] {
  // All responses in flight share one Buffer; a string would be encoded for each of them.
  const json = Buffer.from(JSON.stringify(document))
  // The YAML document takes a tenth of a second, so it is made for the first request instead of at every start.
  let yaml: Buffer | undefined
  const toYaml = (): Buffer => Buffer.from(stringify(document, { aliasDuplicateObjects: false }))
  const noCache = { 'Cache-Control': 'no-cache' }
  return [
    { path: `${prefix}/openapi.json`, render: async () => moved(`${prefix}/api/openapi.json`) },
    { path: `${prefix}/openapi.yaml`, render: async () => moved(`${prefix}/api/openapi.yaml`) },
    {
      path: `${prefix}/api/openapi.json`,
      render: async () => ({ status: 200, type: 'application/json', text: json, headers: noCache }),
    },
    {
      path: `${prefix}/api/openapi.yaml`,
      render: async () => ({ status: 200, type: 'application/yaml', text: (yaml ??= toYaml()), headers: noCache }),
    },
    ...referenceRoutes(prefix, title),
  ]
}

interface SystemRoutesDeps {
  config: Pick<Config, 'metricsToken' | 'trustProxy'>
  checkReadiness: ReadinessCheck
  collectMetrics: () => Promise<string>
  /** The address that the server listens on. */
  host: string
}

/** Health and readiness of the process, and the metrics of all workers. */
export function systemRoutes({ config, checkReadiness, collectMetrics, host }: SystemRoutesDeps): RawRoute[] {
  return [
    { path: '/healthz', isSameOrigin: true, render: async () => plain(200, 'ok\n') },
    {
      path: '/readyz',
      isSameOrigin: true,
      async render() {
        const reason = await checkReadiness()
        return reason === null ? plain(200, 'ready\n') : plain(503, `${reason}\n`)
      },
    },
    {
      path: '/metrics',
      isSameOrigin: true,
      async render({ message }) {
        const { metricsToken, trustProxy } = config
        const token = /^Bearer (.+)$/.exec(message.headers.authorization ?? '')?.[1] ?? ''
        const isAllowed =
          metricsToken === null
            ? isLoopback(host) && !trustProxy && isLocal(message)
            : sameHash(hashSecret(token), hashSecret(metricsToken))
        if (!isAllowed) return plain(401, 'Send the token of LASTSEEN_METRICS_TOKEN as Authorization: Bearer <token>\n')
        return { status: 200, type: Registry.PROMETHEUS_CONTENT_TYPE, text: await collectMetrics() }
      },
    },
  ]
}
