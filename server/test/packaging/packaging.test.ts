import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { settings } from '../../src/config/settings.ts'
import { newFolder, repository } from '../support/process.ts'
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
      'server/bin/packaged.mjs': '#!/usr/bin/env node\n',
      'packaging/lastseen.service': 'ExecStart=/usr/bin/node /opt/lastseen/server/dist/main.js serve\n',
      Dockerfile: 'ENTRYPOINT ["lastseen"]',
    }
    for (const [path, line] of Object.entries(starts)) expect(read(path), path).toContain(line)
  })
})

describe('The packages that are installed', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { link?: boolean; integrity?: string; resolved?: string }>
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
    expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true')
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

  it('contains every file that the server and client commands need', () => {
    // The folders of the last stages, as they are copied; the build is the one of this checkout.
    execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: repository, stdio: 'ignore' })
    const stage = (name: RegExp): string[] => {
      const begin = lines.findIndex((line) => name.test(line))
      const end = lines.findIndex((line, index) => index > begin && line.startsWith('FROM '))
      return lines.slice(begin, end === -1 ? undefined : end)
    }
    const copied = [...stage(/ AS packages$/), ...stage(/^FROM \S+$/)].flatMap(
      (line) => /^COPY (?:--from=build \/build\/)?([^-.]\S*) \S+$/.exec(line)?.[1] ?? [],
    )
    expect(copied).toContain('client/dist')
    const image = newFolder()
    for (const path of copied) cpSync(join(repository, path), join(image, path), { recursive: true })
    symlinkSync(join(repository, 'node_modules'), join(image, 'node_modules'))
    const program = join(image, lines.map((line) => /ln -s \/app\/(\S+)/.exec(line)?.[1]).find(Boolean)!)
    const run = (...args: string[]): string => execFileSync(process.execPath, [program, ...args], { encoding: 'utf8' })
    expect(run('--version')).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(run('assets', '--help')).toMatch(/^Usage: lastseen assets /)
  })

  it('runs as an unprivileged user, has a health check and only sets existing settings', () => {
    expect(lines.filter((line) => line.startsWith('USER'))).toEqual(['USER node'])
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

  it('drops every privilege of the service', () => {
    for (const [, service] of own)
      expect(service).toMatchObject({
        ...{ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'], init: true },
      })
  })
})

describe('The systemd unit', () => {
  it.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)('passes systemd’s own verification', () => {
    const checked = spawnSync('systemd-analyze', ['verify', join(repository, 'packaging/lastseen.service')], {
      encoding: 'utf8',
    })
    const ours = checked.stderr
      .split('\n')
      .filter((line) => line.includes('lastseen.service') && !/not executable/.test(line))
    expect(ours).toEqual([])
  })

  it('only sets existing settings', () => {
    const names = [...read('packaging/lastseen.service').matchAll(/^Environment=(\w+)=/gm)].map((match) => match[1]!)
    expect(names.length).toBeGreaterThan(1)
    for (const name of names) expect(name).toSatisfy(isSetting)
  })
})

describe('The Helm chart', () => {
  const chart = 'packaging/helm/lastseen'
  const about = parse(read(`${chart}/Chart.yaml`)) as Document
  const values = parse(read(`${chart}/values.yaml`)) as Document
  const templates = readdirSync(join(repository, chart, 'templates'))

  const objects = (changed: object = {}): Document[] => {
    const scope = {
      Release: { Name: 'site' },
      Chart: { AppVersion: about.appVersion },
      Values: { ...values, ...changed },
    }
    return templates
      .flatMap((name) =>
        parseAllDocuments(renderTemplate(read(`${chart}/templates/${name}`), { $: scope })).map((document) => {
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

  it('adds the replica, the broker and the ingress when they are enabled', () => {
    const all = objects({
      database: { ...values.database, replicaKey: 'replica' },
      mqtt: { secret: 'broker', key: 'url' },
      ingress: { ...values.ingress, enabled: true, className: 'nginx', tlsSecret: 'tls' },
    })
    const ingress = all.find((one) => one.kind === 'Ingress')
    const backends = ingress.spec.rules[0].http.paths.map((path: Document) => path.backend.service.name)
    expect(backends).toEqual(['site-ingest', 'site-api'])
    const [container] = all.find((one) => one.kind === 'Deployment').spec.template.spec.containers
    expect(container.env.map((one: Document) => one.name)).toEqual(
      expect.arrayContaining(['DATABASE_URL', 'LASTSEEN_REPLICA_URL', 'LASTSEEN_MQTT_URL']),
    )
  })
})
