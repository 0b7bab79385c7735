import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { allRoutes } from '../support/all-routes.ts'
import { useApp } from '../support/app.ts'
import { readMetrics } from '../support/metrics.ts'
import { naturalRoutes } from '../support/openapi.ts'
import { freePort } from '../support/free-port.ts'
import { repository } from '../support/process.ts'
import { alertRules, dashboardQueries } from '../support/prometheus.ts'
import { Site, eventually, useTracking } from '../support/tracking.ts'
import { WebhookOrg, urlOf, useWebhookNetwork } from '../support/webhooks.ts'

const singleServerReason = 'each server has its own metrics'
const embedded = useTracking('2026-09-22T00:00:00Z', {
  ...{ settings: { LASTSEEN_MQTT_PORT: String(await freePort()) }, singleServerReason },
})
const external = useApp({ settings: { LASTSEEN_MQTT_URL: 'mqtt://127.0.0.1:1' }, singleServerReason })
const network = useWebhookNetwork({ singleServerReason })

/** A little load: every kind of sample that a rule or a panel uses by a label. */
async function load(): Promise<void> {
  const site = await Site.open(embedded.app, 'Dock')
  await site.sendReads({ tag: (await site.createAsset('Pallet')).tag, observed_at: '2026-09-21T10:00:00Z' })
  await site.post({}, 'lsd_wrong')
  await site.api.post('/api/v1/bulk/locations', [{ external_key: 'HALL', name: 'Hall' }])
  const receiver = await network.receiver()
  await (await WebhookOrg.with(network.app, urlOf(receiver))).move()
  await eventually(async () => expect(receiver.received).toHaveLength(1))
}

/** The metrics of an expression, each with the labels of its matchers. */
const metricsIn = (expression: string) =>
  [...expression.matchAll(/\b(lastseen_\w+)(?:\{([^}]*)\})?/g)].map(([, name = '', matchers = '']) => ({
    name,
    labels: [...matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label),
  }))

describe('The dashboard and the alert rules', () => {
  it('use only metrics and labels that a server under a little load has', async () => {
    await load()
    const all = await Promise.all([embedded, external, network].map(({ app }) => readMetrics(app.url)))
    const samples = all.flatMap((metrics) => metrics.samples)
    const families = new Set(all.flatMap((metrics) => metrics.families.map(({ name }) => name)))
    const labelsOf = (name: string): Set<string> =>
      new Set(samples.filter((sample) => sample.name === name).flatMap((sample) => Object.keys(sample.labels)))
    // Prometheus adds `job` and `instance`.
    const known = new Set(['job', 'instance', ...samples.flatMap(({ labels }) => Object.keys(labels))])
    const expressions = [...alertRules().map(({ expr }) => expr), ...dashboardQueries()]
    expect(expressions.length).toBeGreaterThan(40)
    const unlabelled = ['lastseen_webhook_events_dropped_total']
    for (const expression of expressions) {
      for (const { name, labels } of metricsIn(expression)) {
        expect(families.has(name.replace(/_bucket$/, '')), `${name} in ${expression}`).toBe(true)
        if (!unlabelled.includes(name))
          expect([...labelsOf(name), 'job', 'instance'], expression).toEqual(expect.arrayContaining(labels))
      }
      for (const [, list = ''] of expression.matchAll(/\bby \(([^)]*)\)/g))
        for (const label of list.split(', ')) expect(known.has(label), `${label} in ${expression}`).toBe(true)
    }
  })

  it('show every metric of the service in a panel', () => {
    const shown = new Set(
      dashboardQueries()
        .flatMap(metricsIn)
        .map(({ name }) => name.replace(/_bucket$/, '')),
    )
    const page = readFileSync(join(repository, 'docs/operating/monitoring.md'), 'utf8')
    const listed = [...page.matchAll(/^\| `(lastseen_\w+)` \|/gm)].map(([, name]) => name)
    expect(listed.filter((name) => !shown.has(name!))).toEqual([])
  })

  it('are described: each alert has a severity, a summary, and its meaning and first action in the manual', () => {
    const page = readFileSync(join(repository, 'docs/operating/monitoring.md'), 'utf8')
    const rows = [...page.matchAll(/^\| `(Lastseen\w+)` \| (\w+) \| [^|]+ \| [^|]+ \|$/gm)]
    expect(rows.map(([, name, severity]) => [name, severity])).toEqual(
      alertRules().map(({ alert, labels }) => [alert, labels.severity]),
    )
    for (const { annotations } of alertRules()) expect(annotations.summary).toMatch(/\.$/)
  })

  it('of slow requests ignore downloads and uploads, which take as long as their clients, and nothing else', () => {
    const { expr } = alertRules().find(({ alert }) => alert === 'LastseenSlow')!
    const ignored = new RegExp(`^(?:${/operation!~"([^"]+)"/.exec(expr)![1]})$`)
    const named = allRoutes.map((route) => ({
      operation: `${naturalRoutes.includes(route) ? 'natural-key.' : ''}${route.id}`,
      isTransfer:
        route.upload !== undefined ||
        route.path.endsWith('.csv') ||
        !('application/json' in (route.success.content ?? { 'application/json': {} })),
    }))
    const idsOf = (chosen: typeof named): string[] => chosen.map(({ operation }) => operation)
    expect(idsOf(named.filter(({ operation }) => ignored.test(operation)))).toEqual(
      idsOf(named.filter(({ isTransfer }) => isTransfer)),
    )
    expect(idsOf(named)).toEqual(expect.arrayContaining(['bulk.moves.export', 'natural-key.bulk.assets.import']))
  })

  it('have a unit test for each alert', () => {
    const file = readFileSync(join(repository, 'packaging/prometheus/alerts.test.yml'), 'utf8')
    const { tests } = parse(file) as { tests: { alert_rule_test: { alertname: string; exp_alerts: object[] }[] }[] }
    const firing = tests.flatMap((test) => test.alert_rule_test.filter(({ exp_alerts: alerts }) => alerts.length > 0))
    expect(firing.map(({ alertname }) => alertname).toSorted()).toEqual(
      alertRules()
        .map(({ alert }) => alert)
        .toSorted(),
    )
  })
})
