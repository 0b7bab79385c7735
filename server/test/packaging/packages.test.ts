import { execFileSync, spawnSync } from 'node:child_process'
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../support/free-port.ts'
import {
  type ExitResult,
  cleanEnvironment,
  firstCredentials,
  launch,
  newFolder,
  repository,
  serve,
  usePrograms,
} from '../support/process.ts'

usePrograms({ isBuilt: false })

const isRoot = process.getuid?.() === 0
/** The package is installed by root and used by another user, who may not write into it. */
const nobody = isRoot ? { uid: 65_534 } : {}

let tarballs: Record<'server' | 'client', string>
let prefix: string
let home: string

function npm(args: string[], cwd: string): string {
  const flags = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline']
  return execFileSync('npm', [...args, ...flags], { cwd, encoding: 'utf8', env: cleanEnvironment({}) })
}

/** As `npm pack` in the folder of a package: nothing is built before, and the path of the tarball is returned. */
function pack(name: 'server' | 'client', into: string): string {
  const [packed] = JSON.parse(npm(['pack', '--json', '--pack-destination', into], join(repository, name))) as {
    filename: string
  }[]
  return join(into, packed!.filename)
}

beforeAll(async () => {
  const packed = newFolder()
  tarballs = { server: pack('server', packed), client: pack('client', packed) }
  prefix = newFolder()
  npm(['install', '--global', '--prefix', prefix, tarballs.server], prefix)
  home = newFolder()
  if (isRoot) chownSync(home, 65_534, 65_534)
}, 600_000)

const installed = (path: string): string => join(prefix, 'lib/node_modules', path)

const contents = (tarball: string): string[] =>
  execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' })
    .trimEnd()
    .split('\n')
    .map((path) => path.slice('package/'.length))

describe('npm pack', () => {
  it('builds @lastseen/server with the web app, the migrations, the OpenAPI documents and the client commands', () => {
    expect(tarballs.server).toMatch(/\/lastseen-server-\d+\.\d+\.\d+\.tgz$/)
    const files = contents(tarballs.server)
    expect(files).toEqual(
      expect.arrayContaining([
        ...['bin/lastseen.mjs', 'dist/main.js', 'web/index.html', 'migrations/0001_schema.sql'],
        ...['openapi/primary.json', 'client/bin/lastseen.mjs', 'client/dist/cli/main.js', 'README.md', 'LICENSE'],
      ]),
    )
    expect(files.filter((path) => /^(src|test|node_modules)\/|\.(ts|map|tsbuildinfo)$/.test(path))).toEqual([])
  })

  it('builds @lastseen/client for ESM and CommonJS, with types for both', () => {
    expect(tarballs.client).toMatch(/\/lastseen-client-\d+\.\d+\.\d+\.tgz$/)
    const files = contents(tarballs.client)
    expect(files).toEqual(
      expect.arrayContaining([
        ...['bin/lastseen.mjs', 'dist/index.js', 'dist/index.d.ts', 'dist/cjs/index.js', 'dist/cjs/index.d.ts'],
        ...['dist/cjs/package.json', 'README.md', 'LICENSE'],
      ]),
    )
    expect(files.filter((path) => /^(src|test|node_modules)\//.test(path))).toEqual([])
  })

  it('leaves nothing behind in the folder of the server', () => {
    for (const name of ['web', 'client', 'LICENSE'])
      expect(existsSync(join(repository, 'server', name)), name).toBe(false)
  })
})

describe('@lastseen/server, installed from its tarball', () => {
  const command = (): [string, ...string[]] => [join(prefix, 'bin/lastseen')]
  const environment = (): NodeJS.ProcessEnv => ({ HOME: home, XDG_DATA_HOME: '', XDG_CONFIG_HOME: '' })
  const run = (args: string[], settings: NodeJS.ProcessEnv = {}): Promise<ExitResult> =>
    launch({ ...environment(), ...settings }, { command: command(), args, cwd: home, ...nobody }).ended

  it('contains nothing of the repository', () => {
    expect(existsSync(installed('@lastseen/server/dist/main.js'))).toBe(true)
    expect(existsSync(installed('@lastseen/web'))).toBe(false)
  })

  it('answers within 60 seconds of lastseen serve, with the embedded database in the home of the user', async () => {
    const port = String(await freePort())
    const options = { command: command(), args: ['serve'], cwd: home, ...nobody }
    const server = await serve({ ...environment(), PORT: port }, options)
    expect(server.readyMs).toBeLessThan(60_000)
    expect(existsSync(join(home, '.local/share/lastseen/data/postgres'))).toBe(true)
    const page = await server.send('GET', '/', { headers: { Accept: 'text/html' } })
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('<div id="root">')])
    expect((await server.send('GET', '/api/openapi.json')).json.openapi).toMatch(/^3\./)
    expect((await server.send('GET', '/api/docs')).status).toBe(200)

    // Commands of the operator and of the client, from any folder.
    const created = await run(['org', 'create', '--name', 'Northwind', '--json'])
    expect(created, created.stderr).toMatchObject({ code: 0 })
    const { client_id, client_secret } = firstCredentials(server.program.stderr)
    const signIn = {
      LASTSEEN_URL: server.url,
      LASTSEEN_CLIENT_ID: client_id,
      LASTSEEN_CLIENT_SECRET: client_secret,
    }
    const csv = join(home, 'assets.csv')
    writeFileSync(csv, 'external_key,name\nJACK-8,Pallet jack 8\n')
    const imported = await run(['import', csv], signIn)
    expect(imported, imported.stderr).toMatchObject({ code: 0 })
    expect((await run(['assets', 'list', '--json'], signIn)).stdout).toContain('"JACK-8"')
    expect(await server.program.stop()).toMatchObject({ code: 0 })
  }, 180_000)

  it('can be installed beside @lastseen/client, whose command has another name', () => {
    npm(['install', '--global', '--prefix', prefix, tarballs.client], prefix)
    const usage = (name: string): string =>
      execFileSync(join(prefix, 'bin', name), ['assets', '--help'], { encoding: 'utf8', env: cleanEnvironment({}) })
    expect(usage('lastseen')).toMatch(/^Usage: lastseen assets /)
    expect(usage('lastseen-client')).toMatch(/^Usage: lastseen-client assets /)
  }, 120_000)
})

describe('@lastseen/client, installed from its tarball', () => {
  let project: string

  beforeAll(() => {
    project = newFolder()
    writeFileSync(join(project, 'package.json'), '{"private":true}')
    npm(['install', tarballs.client], project)
    mkdirSync(join(project, 'src'))
  }, 120_000)

  const create = `new Lastseen({ baseUrl: 'https://lastseen.example.com', accessToken: 'token' })`

  it.each([
    ['import', 'module.mjs', `import { Lastseen, NetworkError, version } from '@lastseen/client'`],
    ['require', 'module.cjs', `const { Lastseen, NetworkError, version } = require('@lastseen/client')`],
  ])('is loaded with %s', (_how, file, line) => {
    const script = join(project, 'src', file)
    const print = `console.log(typeof ${create}.assets.list, new NetworkError('x') instanceof Error, version)`
    writeFileSync(script, `${line}\n${print}\n`)
    const { stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8', env: cleanEnvironment({}) })
    const manifest = JSON.parse(readFileSync(join(repository, 'client/package.json'), 'utf8')) as { version: string }
    expect(stdout, stderr).toBe(`function true ${manifest.version}\n`)
  })

  it.each(['module.mts', 'module.cts'])('has the types of its format for %s', (file) => {
    const source = join(project, 'src', file)
    writeFileSync(
      source,
      `import { type Page, Lastseen } from '@lastseen/client'
const lastseen = ${create}
export const names = async (): Promise<string[]> => (await lastseen.assets.list()).data.map(({ name }) => name)
// @ts-expect-error: a misspelt option
export const wrong = new Lastseen({ baseUrl: 'https://lastseen.example.com', acessToken: 'token' })
export type Names = Page<string>\n`,
    )
    const options: ts.CompilerOptions = {
      ...{ module: ts.ModuleKind.Node16, target: ts.ScriptTarget.ES2022, strict: true, noEmit: true, types: [] },
      lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    }
    const found = ts.getPreEmitDiagnostics(ts.createProgram([source], options))
    expect(found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([])
  })
})

describe('npm run release', () => {
  it('writes both tarballs, the SBOM and their checksums', () => {
    const out = newFolder()
    const { status, stderr } = spawnSync(process.execPath, ['scripts/release.mjs', '--no-image', '--out', out], {
      ...{ cwd: repository, encoding: 'utf8', env: cleanEnvironment({}) },
    })
    expect(status, stderr).toBe(0)
    const { version } = JSON.parse(readFileSync(join(repository, 'server/package.json'), 'utf8')) as { version: string }
    const files = [
      ...[`lastseen-${version}.cdx.json`, `lastseen-client-${version}.tgz`, `lastseen-server-${version}.tgz`],
      `lastseen-packaging-${version}.tar.gz`,
    ]
    expect(readdirSync(out).sort()).toEqual(['SHA256SUMS', ...files].sort())
    const checked = execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out, encoding: 'utf8' })
    expect(checked.trimEnd().split('\n').sort()).toEqual(files.map((name) => `${name}: OK`).sort())
    const { components } = JSON.parse(readFileSync(join(out, files[0]!), 'utf8')) as { components: { name: string }[] }
    expect(components.map(({ name }) => name)).toEqual(expect.arrayContaining(['pg', 'undici', 'aedes']))

    // Every path of the manual that begins with packaging/, and what the compose files mount, is in the archive.
    execFileSync('tar', ['-xzf', files[3]!], { cwd: out })
    const unpacked = join(out, `lastseen-packaging-${version}`)
    expect(readdirSync(unpacked).sort()).toEqual(['LICENSE', 'compose.scale.yaml', 'compose.yaml', 'packaging'])
    const paths = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
    expect(paths(join(unpacked, 'packaging'))).toEqual(paths(join(repository, 'packaging')))
    // In the repository, this file of the chart is a link.
    expect(lstatSync(join(unpacked, 'packaging/helm/lastseen/alerts.yml')).isFile()).toBe(true)
    expect(statSync(join(unpacked, 'packaging/backup.sh')).mode & 0o111).toBe(0o111)
    for (const file of ['compose.yaml', 'compose.scale.yaml'])
      expect(readFileSync(join(unpacked, file), 'utf8')).toContain(`image: lastseen:${version}\n`)
  }, 300_000)
})
