import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type ExitResult, type Environment, launch, newFolder, repository, usePrograms } from '../support/process.ts'

usePrograms({ isBuilt: false })

const nobody = 65534
const isRoot = process.getuid?.() === 0
const unprivilegedUserHasNode =
  isRoot && spawnSync(process.execPath, ['--version'], { uid: nobody, cwd: '/' }).status === 0

/** Records its arguments, then changes the folder as `npm ci` does. */
const npm = `#!${process.execPath}
const fs = require('node:fs')
fs.appendFileSync('calls', 'npm ' + process.argv.slice(2).join(' ') + '\\n')
if (process.env.NPM_FAILS) { process.stderr.write('npm error: no network\\n'); process.exit(1) }
const { packages } = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'))
const here = Object.entries(packages).filter(([path, one]) => path !== '' && (!one.os || one.os.includes(process.platform)))
const wanted = here.filter(([, one]) => !one.dev || process.argv.includes('--include=dev'))
for (const [path, one] of wanted) {
  fs.mkdirSync(path, { recursive: true })
  fs.writeFileSync(path + '/package.json', JSON.stringify({ version: one.version }))
}
fs.writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: Object.fromEntries(wanted) }))
if (process.env.NPM_DIES) process.kill(process.ppid, 'SIGKILL')
`

/** Records the call, then writes a build file for every source, slowly on request. */
const tsc = `const fs = require('node:fs')
const out = process.argv[process.argv.indexOf('--outDir') + 1]
fs.appendFileSync('calls', 'tsc\\n')
for (const name of fs.readdirSync('server/src')) {
  fs.copyFileSync('server/src/' + name, out + '/' + name.replace('.ts', '.js'))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(process.env.BUILD_MS ?? 0))
}
if (process.env.BUILD_FAILS) { process.stdout.write('main.ts(1,1): error\\n'); process.exit(2) }
`

/** Records the call, then writes the page of the app. */
const vite = `import fs from 'node:fs'
const out = process.argv[process.argv.indexOf('--outDir') + 1]
fs.appendFileSync('../calls', 'vite\\n')
if (process.env.WEB_FAILS) process.exit(1)
fs.writeFileSync(out + '/index.html', fs.readFileSync('src/main.tsx'))
`

const packages = {
  '': { name: 'checkout' },
  'node_modules/one': { version: '1.0.0' },
  'server/node_modules/own': { version: '1.0.0' },
  'node_modules/tool': { version: '1.0.0', dev: true },
  'node_modules/native-here': { version: '1.0.0', optional: true, os: [process.platform] },
  'node_modules/native-there': { version: '1.0.0', optional: true, os: ['plan9'] },
}

/** A small folder with the real start scripts and fake npm and compiler programs. */
class Checkout {
  readonly folder = newFolder()

  constructor() {
    cpSync(join(repository, 'scripts'), join(this.folder, 'scripts'), { recursive: true })
    this.write('package.json', '{"type":"module"}')
    this.write('package-lock.json', JSON.stringify({ packages }))
    this.write('node_modules/typescript/package.json', '{"type":"commonjs"}')
    this.write('node_modules/typescript/bin/tsc', tsc)
    this.write('tools/package.json', '{"type":"commonjs"}')
    this.write('tools/npm', npm, 0o755)
    this.write('tsconfig.base.json', '{}')
    this.write('server/tsconfig.json', '{}')
    this.write('server/src/greeting.ts', `export const greeting = 'running'\n`)
    this.write('server/src/main.ts', `import { greeting } from './greeting.js'\nprocess.stdout.write(greeting)\n`)
  }

  write(path: string, text: string, mode = 0o644): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true })
    writeFileSync(join(this.folder, path), text, { mode })
  }

  remove(path: string): void {
    rmSync(join(this.folder, path), { recursive: true })
  }

  has(path: string): boolean {
    return existsSync(join(this.folder, path))
  }

  launch(settings: Environment = {}, uid?: number) {
    const command: [string, string] = [process.execPath, 'scripts/start.mjs']
    const env = { PATH: join(this.folder, 'tools'), ...settings }
    return launch(env, { command, cwd: this.folder, ...(uid === undefined ? {} : { uid }) })
  }

  start(settings: Environment = {}, uid?: number): Promise<ExitResult> {
    return this.launch(settings, uid).ended
  }

  /** The calls of npm and the compiler since the last check. */
  calls(): string[] {
    const file = join(this.folder, 'calls')
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []
    rmSync(file, { force: true })
    return lines
  }
}

let started: Promise<Checkout> | undefined

/** A checkout that has been started before: a copy of such a checkout. */
async function ready(): Promise<Checkout> {
  started ??= (async () => {
    const checkout = new Checkout()
    expect(await checkout.start()).toMatchObject({ code: 0, stdout: 'running' })
    checkout.calls()
    return checkout
  })()
  const copy = new Checkout()
  cpSync((await started).folder, copy.folder, { recursive: true })
  return copy
}

const install = 'npm ci --no-audit --no-fund --loglevel=error --ignore-scripts'

describe('the first start of a checkout', () => {
  it('installs the production packages, builds and runs; the next start only runs', async () => {
    const checkout = new Checkout()
    const first = await checkout.start()
    expect(first).toMatchObject({ code: 0, stdout: 'running', stderr: 'Installing packages …\nBuilding …\n' })
    expect(checkout.calls()).toEqual([`${install} --omit=dev`, 'tsc'])
    expect(await checkout.start()).toMatchObject({ code: 0, stdout: 'running', stderr: '' })
    expect(checkout.calls()).toEqual([])
    expect(checkout.has('.cache/prepare.lock')).toBe(false)
    expect(checkout.has('.cache/installing')).toBe(false)
  })

  it('runs without a build when it was delivered built and without sources', async () => {
    const checkout = await ready()
    checkout.remove('server/src')
    checkout.remove('node_modules/typescript')
    expect(await checkout.start()).toMatchObject({ code: 0, stdout: 'running', stderr: '' })
  })
})

describe('packages are installed again', () => {
  it.each<[string, (checkout: Checkout) => void]>([
    [
      'when the lock file asks for another version',
      (checkout) => {
        const changed = { ...packages, 'node_modules/one': { version: '1.0.1' } }
        checkout.write('package-lock.json', JSON.stringify({ packages: changed }))
      },
    ],
    ['when a package is missing', (checkout) => checkout.remove('node_modules/one')],
    ['when a package of one workspace is missing', (checkout) => checkout.remove('server/node_modules/own')],
    ['when an installation never got to its end', (checkout) => checkout.remove('node_modules/.package-lock.json')],
    ['when the lockfile is truncated', (checkout) => checkout.write('node_modules/.package-lock.json', '{"pack')],
    [
      'when they were copied from another system',
      (checkout) => {
        const copied = Object.entries(packages).filter(([path]) => path !== 'node_modules/native-here')
        const list = { packages: Object.fromEntries(copied) }
        checkout.write('node_modules/.package-lock.json', JSON.stringify(list))
      },
    ],
  ])('%s', async (_when, spoil) => {
    const checkout = await ready()
    spoil(checkout)
    expect(await checkout.start()).toMatchObject({ code: 0, stdout: 'running', stderr: 'Installing packages …\n' })
    expect(checkout.calls()).toHaveLength(1)
    expect(await checkout.start()).toMatchObject({ code: 0, stderr: '' })
  })

  it('when the start was killed while npm was installing, even though all packages look complete', async () => {
    const checkout = new Checkout()
    expect((await checkout.start({ NPM_DIES: '1' })).signal).toBe('SIGKILL')
    expect(checkout.calls()).toHaveLength(1)
    expect(await checkout.start()).toMatchObject({ code: 0, stderr: 'Installing packages …\nBuilding …\n' })
  })

  it('with the development packages where these were installed', async () => {
    const checkout = await ready()
    checkout.write('node_modules/.package-lock.json', JSON.stringify({ packages: { a: { dev: true } } }))
    await checkout.start()
    expect(checkout.calls()).toEqual([`${install} --include=dev`])
  })

  it('and the start fails with a clear message when the installation fails', async () => {
    const checkout = new Checkout()
    expect(await checkout.start({ NPM_FAILS: '1' })).toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        'Installing packages …\nnpm error: no network\n' +
        'The packages could not be installed (npm ci); the lines above say why.\n',
    })
    checkout.remove('tools/npm')
    const ended = await checkout.start()
    expect(ended.stderr).toBe('Installing packages …\nnpm could not be run (ENOENT). It comes with Node.js.\n')
    expect(ended.code).toBe(1)
  })
})

describe('the program is built again', () => {
  it.each<[string, (checkout: Checkout) => void]>([
    [
      'when a source has changed',
      (checkout) => checkout.write('server/src/greeting.ts', `export const greeting = 'running' // now\n`),
    ],
    ['when a source was added', (checkout) => checkout.write('server/src/more.ts', '')],
    ['when the settings of the compiler have changed', (checkout) => checkout.write('server/tsconfig.json', '{ }')],
    ['when the build is missing', (checkout) => checkout.remove('server/dist')],
    ['when the build has lost its entry', (checkout) => checkout.remove('server/dist/main.js')],
    [
      'when a file has its name',
      (checkout) => {
        checkout.remove('server/dist')
        checkout.write('server/dist', '')
      },
    ],
  ])('%s', async (_when, spoil) => {
    const checkout = await ready()
    spoil(checkout)
    expect(await checkout.start()).toMatchObject({ code: 0, stdout: 'running', stderr: 'Building …\n' })
    expect(await checkout.start()).toMatchObject({ code: 0, stdout: 'running', stderr: '' })
    expect(checkout.calls()).toEqual(['tsc'])
  })

  it('not when only the modification time of a source changed', async () => {
    const checkout = await ready()
    utimesSync(join(checkout.folder, 'server/src/main.ts'), new Date(), new Date())
    expect(await checkout.start()).toMatchObject({ code: 0, stderr: '' })
  })

  it('without the output of a removed source', async () => {
    const checkout = await ready()
    checkout.write('server/src/more.ts', '')
    await checkout.start()
    expect(checkout.has('server/dist/more.js')).toBe(true)
    checkout.remove('server/src/more.ts')
    await checkout.start()
    expect(checkout.has('server/dist/more.js')).toBe(false)
  })

  it('and a failed build ends the start and keeps the previous build', async () => {
    const checkout = await ready()
    appendFileSync(join(checkout.folder, 'server/src/main.ts'), '// new\n')
    expect(await checkout.start({ BUILD_FAILS: '1' })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'Building …\nmain.ts(1,1): error\nThe build failed; the lines above say why.\n',
    })
    expect(readFileSync(join(checkout.folder, 'server/dist/main.js'), 'utf8')).not.toContain('// new')
    expect(await checkout.start()).toMatchObject({ code: 0, stdout: 'running', stderr: 'Building …\n' })
  })

  it('after a build that was killed', async () => {
    const checkout = await ready()
    appendFileSync(join(checkout.folder, 'server/src/main.ts'), '// new\n')
    const killed = checkout.launch({ BUILD_MS: '300' })
    await killed.says(/Building/)
    const draft = `server/dist.new-${killed.pid}`
    while (!checkout.has(`${draft}/greeting.js`)) await sleep(10)
    killed.child.kill('SIGKILL')
    await killed.ended
    expect(checkout.has('.cache/prepare.lock')).toBe(true)
    expect(await checkout.start()).toMatchObject({ code: 0, stdout: 'running', stderr: 'Building …\n' })
    expect(readFileSync(join(checkout.folder, 'server/dist/main.js'), 'utf8')).toContain('// new')
    expect(checkout.has(draft)).toBe(false)
  })
})

describe('the web app', () => {
  const withWeb = async (): Promise<Checkout> => {
    const checkout = await ready()
    checkout.write('node_modules/vite/package.json', '{"type":"module"}')
    checkout.write('node_modules/vite/bin/vite.js', vite)
    checkout.write('web/src/main.tsx', 'first')
    return checkout
  }

  it('is built once, and again when one of its sources has changed', async () => {
    const checkout = await withWeb()
    expect(await checkout.start()).toMatchObject({ code: 0, stdout: 'running', stderr: 'Building the web app …\n' })
    expect(await checkout.start()).toMatchObject({ code: 0, stderr: '' })
    expect(checkout.calls()).toEqual(['vite'])
    checkout.write('web/src/main.tsx', 'second')
    expect(await checkout.start()).toMatchObject({ code: 0, stderr: 'Building the web app …\n' })
    expect(readFileSync(join(checkout.folder, 'web/dist/index.html'), 'utf8')).toBe('second')
  })

  it('keeps its previous build when a new build fails, and the start reports it', async () => {
    const checkout = await withWeb()
    await checkout.start()
    checkout.write('web/src/main.tsx', 'second')
    const failed = await checkout.start({ WEB_FAILS: '1' })
    expect(failed).toMatchObject({ code: 1, stdout: '' })
    expect(failed.stderr).toBe('Building the web app …\nThe build failed; the lines above say why.\n')
    expect(readFileSync(join(checkout.folder, 'web/dist/index.html'), 'utf8')).toBe('first')
  })
})

describe('starts at the same moment', () => {
  it('share one installation and one build', async () => {
    const checkout = new Checkout()
    const ended = await Promise.all([1, 2, 3].map(() => checkout.start({ BUILD_MS: '100' })))
    expect(ended.map(({ code, stdout }) => ({ code, stdout }))).toEqual(
      ended.map(() => ({ code: 0, stdout: 'running' })),
    )
    const calls = checkout.calls()
    expect(calls.filter((call) => call === 'tsc')).toHaveLength(1)
    expect(calls.filter((call) => call.startsWith('npm'))).toHaveLength(1)
    expect(ended.map((one) => one.stderr).join('')).toMatch(/Waiting for another start \(process \d+\) …\n/)
  })
})

describe.skipIf(!unprivilegedUserHasNode)('a folder that this user may not write to', () => {
  it('runs when it is built, and otherwise the error says which user has to build it', async () => {
    const checkout = await ready()
    expect(await checkout.start({}, nobody)).toMatchObject({ code: 0, stdout: 'running', stderr: '' })
    checkout.write('server/src/greeting.ts', `export const greeting = 'newer'\n`)
    const permissionError = (what: string, folder: string): string =>
      `${what}, but this user may not write to ${join(checkout.folder, folder)} (EACCES). ` +
      'Run npm start once as the user who owns the folder.\n'
    expect(await checkout.start({}, nobody)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: permissionError('The program has to be built', '.cache'),
    })
    checkout.remove('.cache')
    checkout.remove('node_modules/one')
    expect(await checkout.start({}, nobody)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: permissionError('Packages have to be installed', ''),
    })
  })
})
