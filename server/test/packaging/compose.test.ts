import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { isSetting, version } from '../support/packaging.ts'
import { repository } from '../support/process.ts'

const read = (path: string): string => readFileSync(join(repository, path), 'utf8')

// Documents in the formats of other programs, read without types.
/* eslint-disable @typescript-eslint/no-explicit-any */
type Document = any

describe.each(['compose.yaml', 'compose.scale.yaml'])('%s', (file) => {
  const document = parse(read(file), { merge: true }) as Document
  const services = Object.entries<Document>(document.services)
  const image = `lastseen:${version}`
  const own = services.filter(([, service]) => service.image === image)

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

  it('takes the public URLs from the environment, and none by default', () => {
    const names = ['LASTSEEN_BASE_URL', ...(file === 'compose.yaml' ? [] : ['LASTSEEN_MQTT_PUBLIC_URL'])]
    for (const [name, service] of own)
      for (const setting of names) expect(service.environment[setting], name).toBe(`\${${setting}:-}`)
  })

  it('runs the image of this version, which a release contains', () => {
    const images = services.map(([, service]) => String(service.image)).filter((name) => name.startsWith('lastseen'))
    expect(new Set(images)).toEqual(new Set([image]))
    expect(read('scripts/release.mjs')).toContain('const name = `lastseen:${version}`')
  })

  it('pins the image of every other service by its digest', () => {
    for (const [name, service] of services)
      if (service.image !== image) expect(service.image, name).toMatch(/^[\w-]+:\d[\w.-]*@sha256:[0-9a-f]{64}$/)
  })

  it('lets readers reach a service with the role ingest over HTTP', () => {
    const published = services.filter(([, service]) => service.ports?.some((port: string) => port.endsWith(':8080')))
    expect(published).toHaveLength(1)
    const [name, service] = published[0]!
    if (service.image === image) return expect(service.command).toBeUndefined()
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

describe('compose.scale.yaml', () => {
  const { services } = parse(read('compose.scale.yaml'), { merge: true }) as Document

  it('connects the service as a role that is not a superuser, with a password of its own', () => {
    const { environment, volumes } = services.postgres
    expect(environment.POSTGRES_USER).toBeUndefined()
    expect(volumes).toContain('./packaging/postgres.sql:/docker-entrypoint-initdb.d/lastseen.sql:ro')
    const url = new URL(String(services.api.environment.DATABASE_URL).replace(/\$\{(\w+):[^}]*\}/, '$1'))
    expect([url.username, url.password]).toEqual(['lastseen', 'DATABASE_PASSWORD'])
    expect(environment.DATABASE_PASSWORD).toMatch(/^\$\{DATABASE_PASSWORD:/)
    expect(environment.POSTGRES_PASSWORD).toMatch(/^\$\{POSTGRES_PASSWORD:/)
  })

  it('creates the roles and the database with the statements of the manual', () => {
    const statements = (text: string): string[] =>
      text.split('\n').filter((line) => line !== '' && !/^(--|\\)/.test(line))
    const [, manual] = /^```sql\n([^]*?)\n```$/m.exec(read('docs/operating/postgresql.md'))!
    expect(statements(read('packaging/postgres.sql').replace(":'password'", "'change this password'"))).toEqual(
      statements(manual!),
    )
  })
})

describe('The manual', () => {
  const pages = readdirSync(join(repository, 'docs/operating'))
  const named = pages.flatMap((page) =>
    [...read(`docs/operating/${page}`).matchAll(/\blastseen(?:-\w+)?[-:](\d+\.\d+\.\d+)|image\.tag: (\S+)@/g)].map(
      (match) => [page, match[1] ?? match[2]],
    ),
  )

  it('names the files and the image of this version', () => {
    expect(named.length).toBeGreaterThan(4)
    expect(named.filter(([, found]) => found !== version)).toEqual([])
  })

  it('names no image without its version', () => {
    const found = pages.filter((page) => /image: lastseen$/m.test(read(`docs/operating/${page}`)))
    expect(found).toEqual([])
  })
})
