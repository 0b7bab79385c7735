import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { settings } from '../../src/config/settings.ts'
import { isSetting, version } from '../support/packaging.ts'
import { repository } from '../support/process.ts'
import { renderTemplate } from '../support/templates.ts'

const read = (path: string): string => readFileSync(join(repository, path), 'utf8')

// Documents in the formats of other programs, read without types.
/* eslint-disable @typescript-eslint/no-explicit-any */
type Document = any

describe('The Helm chart', () => {
  const chart = 'packaging/helm/lastseen'
  const about = parse(read(`${chart}/Chart.yaml`)) as Document
  const values = parse(read(`${chart}/values.yaml`)) as Document
  const templates = readdirSync(join(repository, chart, 'templates')).filter((name) => name.endsWith('.yaml'))

  const render = (name: string, changed: object): string => {
    const scope = {
      Release: { Name: 'site', Namespace: 'default' },
      Chart: { AppVersion: about.appVersion },
      Values: { ...values, ...changed },
      Files: (file: string) => read(`${chart}/${file}`),
    }
    return renderTemplate(read(`${chart}/templates/${name}`), { $: scope })
  }

  const objects = (changed: object = {}): Document[] => {
    return templates
      .flatMap((name) =>
        parseAllDocuments(render(name, changed)).map((document) => {
          expect(document.errors, name).toEqual([])
          return document.toJS() as Document
        }),
      )
      .filter((document) => document !== null)
  }

  it('has the version of the program', () => {
    expect([about.appVersion, values.image.tag]).toEqual([version, version])
    expect(about).toMatchObject({ apiVersion: 'v2', name: 'lastseen', type: 'application' })
  })

  it('creates a deployment, a service and a disruption budget for each role, with matching selectors', () => {
    const all = objects()
    expect(all.map((one) => `${one.kind} ${one.metadata.name}`).sort()).toEqual(
      ['Deployment', 'PodDisruptionBudget', 'Service'].flatMap((kind) =>
        ['api', 'deliver', 'ingest'].map((role) => `${kind} site-${role}`),
      ),
    )
    for (const deployment of all.filter((one) => one.kind === 'Deployment')) {
      const pod = deployment.spec.template
      const [container] = pod.spec.containers
      expect(deployment.spec.selector.matchLabels).toEqual(pod.metadata.labels)
      const service = all.find((one) => one.kind === 'Service' && one.metadata.name === deployment.metadata.name)
      expect(service.spec.selector).toEqual(pod.metadata.labels)
      expect(container.image).toBe(`lastseen:${about.appVersion}`)
      expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false })
      expect(pod.spec.securityContext).toMatchObject({ runAsNonRoot: true })
      for (const { name, value, valueFrom } of container.env) {
        expect(name).toSatisfy(isSetting)
        expect(typeof value === 'string' || valueFrom !== undefined, name).toBe(true)
      }
    }
  })

  const allSecrets = Object.fromEntries(
    Object.entries<Document>(values.secrets).map(([name, ref]) => [name, { ...ref, name: 'lastseen' }]),
  )

  it('takes every secret setting from a secret, and none as a plain value', () => {
    const secret = Object.values(settings).flatMap((row) => ('secret' in row ? [row.name] : []))
    // The headers for the collector of traces contain its token. The exporter reads them itself.
    expect(Object.keys(values.secrets).sort()).toEqual([...secret, 'OTEL_EXPORTER_OTLP_HEADERS'].sort())
    expect(Object.keys(values.settings).filter((name) => secret.includes(name))).toEqual([])
  })

  it('scales a role by its load instead of a fixed number, when that is enabled', () => {
    const autoscaling = { ...values.roles.api.autoscaling, enabled: true }
    const all = objects({ roles: { ...values.roles, api: { ...values.roles.api, autoscaling } } })
    const [scaler, ...others] = all.filter((one) => one.kind === 'HorizontalPodAutoscaler')
    expect(others).toEqual([])
    expect(scaler.spec).toMatchObject({ scaleTargetRef: { kind: 'Deployment', name: 'site-api' }, minReplicas: 2 })
    const replicas = all.filter((one) => one.kind === 'Deployment').map((one) => [one.metadata.name, one.spec.replicas])
    expect(Object.fromEntries(replicas)).toEqual({ 'site-api': undefined, 'site-ingest': 2, 'site-deliver': 1 })
  })

  it('lets the Prometheus operator scrape every service with the token', () => {
    const serviceMonitor = { ...values.serviceMonitor, enabled: true, labels: { release: 'prometheus' } }
    const all = objects({ serviceMonitor, secrets: allSecrets })
    const monitor = all.find((one) => one.kind === 'ServiceMonitor')
    expect(monitor.metadata.labels).toEqual({ release: 'prometheus' })
    // The operator names a job after this label of the service; the alert rules and the dashboard select the job `lastseen`.
    expect(monitor.spec.jobLabel).toBe('app.kubernetes.io/name')
    const credentials = { name: 'lastseen', key: 'metrics-token' }
    expect(monitor.spec.endpoints).toEqual([
      { port: 'http', path: '/metrics', interval: '30s', authorization: { type: 'Bearer', credentials } },
    ])
    for (const service of all.filter((one) => one.kind === 'Service')) {
      expect(service.metadata.labels).toMatchObject(monitor.spec.selector.matchLabels)
      expect(service.metadata.labels[monitor.spec.jobLabel]).toBe('lastseen')
      expect(service.spec.ports.map(({ name }: Document) => name)).toContain('http')
    }
  })

  it('gives the Prometheus operator the alert rules', () => {
    const rule = objects({ prometheusRule: { enabled: true, labels: { release: 'prometheus' } } })
    expect(rule.find((one) => one.kind === 'PrometheusRule')).toEqual({
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: { name: 'site', labels: { release: 'prometheus' } },
      spec: parse(read('packaging/prometheus/alerts.yml')) as Document,
    })
  })

  it('gives a pod an hour to migrate the database before it restarts the pod', () => {
    for (const { spec } of objects().filter((one) => one.kind === 'Deployment')) {
      const { periodSeconds, failureThreshold } = spec.template.spec.containers[0].startupProbe
      expect(periodSeconds * failureThreshold).toBe(3600)
    }
  })

  it('tells how to go on after the installation', () => {
    expect(render('NOTES.txt', {})).toMatch(/port-forward service\/site-api 8080:80\n[^]*\/metrics is closed/)
    const notes = render('NOTES.txt', { ingress: { ...values.ingress, enabled: true }, secrets: allSecrets })
    expect(notes).toContain('https://lastseen.example.com\n')
    expect(notes).not.toMatch(/port-forward|\/metrics|\{\{/)
  })

  it('says where the first admin comes from', () => {
    expect(render('NOTES.txt', {})).toMatch(/a link[^]* valid once[^]*kubectl --namespace default logs /)
    const notes = render('NOTES.txt', { secrets: allSecrets })
    expect(notes).toContain('password in the secret lastseen')
    expect(notes).not.toContain(' logs ')
  })

  it('serves requests that still arrive while a pod is taken out of its service', () => {
    const delayMs = 1000 * Number(values.settings.LASTSEEN_SHUTDOWN_DELAY_SECONDS)
    for (const { spec } of objects().filter((one) => one.kind === 'Deployment')) {
      const pod = spec.template.spec
      const [{ env, readinessProbe }] = pod.containers
      expect(env).toContainEqual({ name: 'LASTSEEN_SHUTDOWN_DELAY_SECONDS', value: String(delayMs / 1000) })
      expect(delayMs).toBeGreaterThanOrEqual(2000 * readinessProbe.periodSeconds)
      // A stop takes at most 40 seconds after the delay.
      expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(delayMs + 40_000)
    }
  })

  it('mounts further volumes into every pod, such as those with certificates', () => {
    const extraVolumes = [{ name: 'tls', secret: { secretName: 'lastseen-tls' } }]
    const extraVolumeMounts = [{ name: 'tls', mountPath: '/tls', readOnly: true }]
    for (const changed of [{}, { extraVolumes, extraVolumeMounts }]) {
      const { extraVolumes: volumes = [], extraVolumeMounts: mounts = [] } = changed as Document
      for (const { spec } of objects(changed).filter((one) => one.kind === 'Deployment')) {
        const pod = spec.template.spec
        expect(pod.volumes).toEqual([{ name: 'tmp', emptyDir: {} }, ...volumes])
        expect(pod.containers[0].volumeMounts).toEqual([{ name: 'tmp', mountPath: '/tmp' }, ...mounts])
      }
    }
  })

  it('serves HTTPS with the certificate of a secret, and is probed and scraped over HTTPS', () => {
    const secured = { tlsSecret: 'site-tls', serviceMonitor: { ...values.serviceMonitor, enabled: true } }
    for (const [changed, scheme] of [
      [{}, 'HTTP'],
      [{ ...secured, secrets: allSecrets }, 'HTTPS'],
    ] as const)
      for (const { spec } of objects(changed).filter((one) => one.kind === 'Deployment')) {
        const [{ env, volumeMounts, ...probes }] = spec.template.spec.containers
        for (const name of ['readinessProbe', 'livenessProbe', 'startupProbe'])
          expect(probes[name].httpGet.scheme).toBe(scheme)
        const names = env.map(({ name }: Document) => name)
        expect(names.includes('LASTSEEN_TLS_CERT') && names.includes('LASTSEEN_TLS_KEY')).toBe(scheme === 'HTTPS')
        const mounted = volumeMounts.filter(({ name }: Document) => name === 'tls')
        expect(mounted).toEqual(scheme === 'HTTPS' ? [{ name: 'tls', mountPath: '/tls', readOnly: true }] : [])
      }
    const all = objects({ ...secured, secrets: allSecrets })
    const monitor = all.find((one) => one.kind === 'ServiceMonitor')
    expect(monitor.spec.endpoints[0]).toMatchObject({ scheme: 'https', tlsConfig: { insecureSkipVerify: true } })
  })

  it('adds the secrets and the ingress when they are given', () => {
    const all = objects({
      secrets: allSecrets,
      ingress: { ...values.ingress, enabled: true, className: 'nginx', tlsSecret: 'tls' },
    })
    const ingress = all.find((one) => one.kind === 'Ingress')
    const backends = ingress.spec.rules[0].http.paths.map((path: Document) => path.backend.service.name)
    expect(backends).toEqual(['site-ingest', 'site-api'])
    const [container] = all.find((one) => one.kind === 'Deployment').spec.template.spec.containers
    for (const [name, { key }] of Object.entries<Document>(values.secrets))
      expect(container.env).toContainEqual({ name, valueFrom: { secretKeyRef: { name: 'lastseen', key } } })
  })
})

describe('The manual for Kubernetes', () => {
  const blockOf = (page: string, language: string, content: string): string => {
    const blocks = read(`docs/operating/${page}.md`).matchAll(/^```(\w+)\n([^]*?)\n```$/gm)
    return [...blocks].find(([, name, text]) => name === language && text!.includes(content))![2]!
  }

  it('takes backups as the unprivileged user of the image, who can write to both volumes', () => {
    const job = parse(blockOf('backup', 'yaml', 'kind: CronJob')) as Document
    const pod = job.spec.jobTemplate.spec.template.spec
    const [container] = pod.containers
    expect(pod.securityContext).toEqual({
      ...{ runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 },
      seccompProfile: { type: 'RuntimeDefault' },
    })
    expect(container.securityContext).toEqual({
      ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    })
    const volumes = pod.volumes.map(({ name }: Document) => name)
    expect(container.volumeMounts.map(({ name }: Document) => name)).toEqual(volumes)
    expect(container.command).toEqual(['sh', '-c'])
    expect(() => execFileSync('sh', ['-n', '-c', container.args[0]])).not.toThrow()
    const values = parse(blockOf('install-kubernetes', 'yaml', 'my-values.yaml')) as Document
    expect(container.image).toBe(`${values.image.repository}:${version}`)
  })
})
