import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../server/test/support/app.ts'
import { commandNames } from '../bin/command-names.mjs'
import { newClient } from './support/clients.ts'
import { cliOf, newFolder, run } from './support/cli.ts'

const context = useApp()
const home = newFolder()
const repository = fileURLToPath(new URL('../..', import.meta.url))
let org: TestOrg
let cli: Awaited<ReturnType<typeof cliOf>>

beforeAll(async () => {
  org = await context.app.newOrg('Northwind')
  cli = await cliOf(org, home)
})

describe('assets', () => {
  it('are created, listed, shown, changed, renamed and deleted', async () => {
    const created = await cli.run('assets', 'create', '--key', 'JACK/7', '--name', 'Pallet jack', '--tag', 'rfid:E280')
    expect(created).toMatchObject({ code: 0, stderr: '' })
    expect(created.stdout).toMatch(/^external_key +JACK\/7$/m)
    expect(created.stdout).toMatch(/^tags +rfid:E280$/m)

    const listed = await cli.run('assets', 'list', '--q', 'jack')
    expect(listed.stdout.split('\n')).toEqual([
      expect.stringMatching(/^KEY +NAME +ACTIVE +TAGS +UPDATED$/),
      expect.stringMatching(/^JACK\/7 {2}Pallet jack {2}yes {5}rfid:E280 {2}\d{4}-/),
      '',
    ])

    const patch = ['--description', 'blue', '--metadata', '{"owner":"dock 3"}']
    expect(await cli.json('assets', 'patch', 'JACK/7', ...patch)).toMatchObject({ description: 'blue' })
    const cleared = await cli.json('assets', 'patch', 'JACK/7', '--clear', 'description', '--active', 'false')
    expect(cleared).toMatchObject({ description: null, is_active: false, metadata: { owner: 'dock 3' } })

    expect(await cli.json('assets', 'rename', 'JACK/7', 'JACK-7')).toMatchObject({ external_key: 'JACK-7' })
    const tagged = await cli.json('assets', 'tag', 'JACK-7', 'barcode:400:6')
    expect(tagged.tags).toMatchObject([{}, { tag_type: 'barcode', value: '400:6' }])
    expect((await cli.json('assets', 'untag', 'JACK-7', 'rfid:E280')).tags).toHaveLength(1)
    const { id } = await cli.json('assets', 'get', 'JACK-7')
    expect(await cli.json('assets', 'get', String(id), '--id')).toMatchObject({ external_key: 'JACK-7' })

    expect(await cli.run('assets', 'delete', 'JACK-7', '--yes')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'Deleted JACK-7\n',
    })
    expect(await cli.run('assets', 'get', 'JACK-7')).toEqual({
      code: 1,
      stdout: '',
      stderr: "There is no asset with the key 'JACK-7'\n",
    })
  })

  it('have a last location and a history', async () => {
    const { client } = await newClient(org)
    await cli.json('locations', 'create', '--key', 'DOCK', '--name', 'Dock')
    for (const key of ['SEEN', 'UNSEEN']) await cli.json('assets', 'create', '--key', key, '--name', key)
    await client.saveInventory({ location_identifier: 'DOCK', asset_identifiers: ['SEEN'] })

    const where = await cli.run('where', 'SEEN', 'UNSEEN')
    expect(where).toMatchObject({ code: 0, stderr: '' })
    expect(where.stdout).toMatch(/^ASSET +LOCATION +LAST SEEN\nSEEN +DOCK +\d{4}-\S+Z\nUNSEEN +- +never\n$/)
    expect(await cli.json('where', 'SEEN')).toMatchObject({ data: [{ location_external_key: 'DOCK' }], unseen: [] })
    expect((await cli.run('where', 'UNKNOWN')).code).toBe(1)

    expect((await cli.run('assets', 'history', 'SEEN')).stdout).toMatch(/^SEEN AT .*\n\d{4}-\S+Z +DOCK +-\n$/)
    expect((await cli.json('assets', 'history', 'SEEN', '--to', '2020-01-01T00:00:00Z')).data).toEqual([])
    expect((await cli.run('locations', 'history', 'DOCK')).stdout).toMatch(/SEEN/)
  })
})

describe('locations', () => {
  it('are listed with their parent', async () => {
    await cli.json('locations', 'create', '--key', 'HALL', '--name', 'Hall')
    await cli.json('locations', 'create', '--key', 'SHELF', '--name', 'Shelf', '--parent', 'HALL')
    const listed = await cli.json('locations', 'list', '--parent', 'HALL')
    expect(listed).toMatchObject({ total_count: 1, data: [{ external_key: 'SHELF' }] })
    expect((await cli.run('locations', 'children', 'HALL')).stdout).toBe('KEY    NAME\nSHELF  Shelf\n')
    const rejected = await cli.run('locations', 'delete', 'HALL', '--yes')
    expect(rejected.code).toBe(1)
    expect(rejected.stderr).toMatch(
      /^The server rejected the request \(409 conflict\): .+\n {2}request id [0-9A-Z]{26}\n$/,
    )
    expect(await cli.json('locations', 'patch', 'SHELF', '--clear', 'parent')).toMatchObject({ parent_id: null })
  })
})

describe('a list', () => {
  it('prints the total, and reads all pages with --all', async () => {
    const own = await cliOf(await context.app.newOrg(), home)
    for (const name of ['one', 'two', 'three']) await own.json('assets', 'create', '--name', name)
    const page = await own.run('assets', 'list', '--limit', '2')
    expect(page.stdout.trimEnd().split('\n')).toHaveLength(3)
    expect(page.stderr).toBe('2 of 3\n')
    const all = await own.json('assets', 'list', '--all', '--limit', '2', '--sort=-name')
    expect(all.data.map(({ name }: { name: string }) => name)).toEqual(['two', 'three', 'one'])
  })
})

describe('an error', () => {
  it('is printed with the invalid fields and the request id, exit code 1', async () => {
    const result = await cli.run('assets', 'create', '--name', '', '--data', '{"colour":"red"}')
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(result.stderr).toMatch(
      /^The server rejected the request \(400 validation_error\): .+\n {2}colour: .+ \(unknown_field\)\n {2}request id [0-9A-Z]{26}\n$/,
    )
  })

  it('is one JSON document with --json', async () => {
    const result = await cli.run('assets', 'create', '--name', '', '--json')
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(JSON.parse(result.stderr)).toMatchObject({
      error: { type: 'validation_error', status: 400, fields: [{ field: 'name', code: 'too_short' }] },
    })
  })

  it.concurrent.each([
    ['no command', [], 'a command is missing'],
    ['an unknown command', ['assets', 'paint'], "unknown command 'paint'"],
    ['an unknown option', ['assets', 'list', '--colour', 'red'], "unknown option '--colour'"],
    ['a missing key', ['assets', 'get'], "missing required argument 'key'"],
    [
      'an argument too many',
      ['assets', 'get', 'a', 'b'],
      "too many arguments for 'get'. Expected 1 argument but got 2.",
    ],
    ['a group without a command', ['assets'], 'a command is missing'],
    ['an option without its value', ['assets', 'list', '--q'], "option '--q <text>' argument missing"],
    ['a limit that is too large', ['assets', 'list', '--limit', '201'], '--limit must be a whole number from 1 to 200'],
    [
      'a number in --metadata that would be changed [D47]',
      ['assets', 'create', '--name', 'x', '--metadata', '{"sizes":[1,9007199254740993]}'],
      '--metadata.sizes[1] contains a number that cannot be stored exactly',
    ],
    [
      'a number in --data that would be changed [D47]',
      ['assets', 'patch', 'a', '--data', '{"metadata":{"n":12345678901234567890}}'],
      '--data.metadata.n contains a number that cannot be stored exactly',
    ],
    [
      'metadata that is not an object',
      ['assets', 'patch', 'a', '--metadata', '[1]'],
      '--metadata must be a JSON object',
    ],
    ['an empty patch', ['assets', 'patch', 'a'], 'nothing to change: pass at least one field option or --data'],
    [
      'deleting without a terminal and without --yes',
      ['assets', 'delete', 'a'],
      '--yes is required without a terminal, where delete cannot prompt',
    ],
    ['a file that does not exist', ['import', '/nowhere.csv'], '/nowhere.csv cannot be read (ENOENT)'],
  ])('is a usage error with exit code 2: %s', async (_case, args, message) => {
    const result = await cli.run(...args)
    expect(result).toMatchObject({ code: 2, stdout: '' })
    expect(result.stderr).toBe(`${message} (see --help)\n`)
  })

  it('names a server that cannot be reached, exit code 1', async () => {
    const result = await run(['whoami'], { env: { ...cli.env, LASTSEEN_URL: 'http://127.0.0.1:9' } })
    expect(result.code).toBe(1)
    expect(result.stderr).toMatch(/^No response from http:\/\/127\.0\.0\.1:9: /)
  })
})

describe('help', () => {
  it('exists for every command and has exit code 0', async () => {
    const all = await run(['--help'])
    expect(all).toMatchObject({ code: 0, stderr: '' })
    const [, listed = ''] = all.stdout.split('Commands:\n')
    const names = Array.from(listed.matchAll(/^ {2}(\w+)/gm), ([, name]) => name)
    expect(new Set(names)).toEqual(new Set(commandNames))
    const group = await run(['assets', '--help'])
    expect(group.stdout).toMatch(/^Usage: lastseen assets \[options\] \[command\]\n/)
    const page = await run(['assets', 'patch', '--help'])
    expect(page).toMatchObject({ code: 0, stderr: '' })
    expect(page.stdout).toMatch(/^Usage: lastseen assets patch \[options\] <key>\n/)
    expect(page.stdout).toContain('--clear <field>')
    expect(page.stdout).toContain('--json')
  })
})

describe('the credential', () => {
  const config = (folder: string): string => join(folder, '.config/lastseen/config.json')

  it('is checked by login and saved in a file that only its owner can read', async () => {
    const folder = newFolder()
    const { LASTSEEN_URL: url, LASTSEEN_CLIENT_ID: id, LASTSEEN_CLIENT_SECRET: secret } = cli.env
    const args = ['login', '--url', `${url}/`, '--client-id', id]
    const rejected = await run(args, { env: { HOME: folder }, input: 'ls_wrong\n' })
    expect(rejected.code).toBe(1)
    expect(rejected.stderr).toContain('401 unauthorized')
    const result = await run(args, { env: { HOME: folder }, input: `${secret}\n` })
    expect(result).toMatchObject({
      code: 0,
      stderr: `Signed in to Northwind at ${url}; the credential is saved in ${config(folder)}\n`,
    })
    expect(statSync(config(folder)).mode & 0o777).toBe(0o600)
    const me = await run(['whoami', '--json'], { env: { HOME: folder } })
    expect(JSON.parse(me.stdout)).toMatchObject({ name: 'Northwind', api_key_id: id })
    const otherServer = await run(['whoami'], { env: { HOME: folder, LASTSEEN_URL: 'https://example.com' } })
    expect(otherServer.code).toBe(2)
    expect(otherServer.stderr).toContain('LASTSEEN_URL is https://example.com, but the credential in')
  })

  it('must be complete', async () => {
    const folder = newFolder()
    const none = await run(['whoami'], { env: { HOME: folder } })
    expect(none).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^There is no credential\. Run `lastseen login`/),
    })
    const partial = await run(['whoami'], { env: { HOME: folder, LASTSEEN_CLIENT_ID: 'x' } })
    expect(partial).toMatchObject({ code: 2, stderr: expect.stringContaining('belong together: set all three') })
  })
})

describe('on a terminal', () => {
  it.skipIf(process.platform !== 'linux')('delete prompts for confirmation', async () => {
    await cli.json('assets', 'create', '--key', 'PROMPTED', '--name', 'Prompted')
    const entry = join(repository, 'client/bin/lastseen.mjs')
    const line = `${process.execPath} ${entry} assets delete PROMPTED`
    const typed = (input: string) => run([], { env: cli.env, input, command: ['script', '-qec', line, '/dev/null'] })
    const no = await typed('n\n')
    expect(no.stdout).toContain('Delete asset PROMPTED (Prompted)? [y/N]')
    expect(no).toMatchObject({ code: 1 })
    const yes = await typed('y\n')
    expect(yes).toMatchObject({ code: 0, stdout: expect.stringContaining('Deleted PROMPTED') })
  })
})

describe('the program of the server', () => {
  it('also runs the commands of the client', async () => {
    const command: [string, ...string[]] = [process.execPath, join(repository, 'server/bin/lastseen.mjs')]
    const me = await run(['--json', 'whoami'], { env: cli.env, command, cwd: home })
    expect(me).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(me.stdout).name).toBe('Northwind')
    expect((await run(['assets', 'paint'], { command })).code).toBe(2)
    const help = readFileSync(join(repository, 'server/src/cli/program.ts'), 'utf8')
    for (const name of commandNames) expect(help).toContain(name)
  })
})
