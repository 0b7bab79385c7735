import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../support/command.ts'
import { type ReadyServer, firstCredentials, lastseen, newFolder, serve, usePrograms } from '../support/process.ts'

usePrograms()

const dataDir = newFolder()
const settings = { LASTSEEN_DATA_DIR: dataDir, LASTSEEN_LOG_LEVEL: 'warn' }
const own = ['--org', 'My organization']

/** Runs a command, expects success, and returns the JSON document it printed. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
async function facts(...args: string[]): Promise<any> {
  const ended = await runCommand([...args, '--json'], settings)
  expect([ended.code, ended.stderr]).toEqual([0, ''])
  expect(ended.stdout).toMatch(/^[^\n]+\n$/)
  return JSON.parse(ended.stdout)
}

describe('operator commands beside a running server', { timeout: 120_000 }, () => {
  let server: ReadyServer
  let admin: ReturnType<typeof firstCredentials>

  beforeAll(async () => {
    server = await serve(settings)
    admin = firstCredentials(server.program.stderr)
  }, 120_000)
  afterAll(() => server.program.stop())

  async function signIn(email: string, password: string) {
    const reply = await server.send('POST', '/api/v1/auth/login', { json: { email, password } })
    return { status: reply.status, token: reply.json.data?.access_token as string }
  }
  const me = async (token: string): Promise<number> => (await server.send('GET', '/api/v1/auth/me', { token })).status
  const read = (token: string) =>
    server.send('POST', '/ingest/v1/reads', { token, json: { reads: [{ tag: 'E280', antenna: 1 }] } })

  it('print each list as one JSON array', async () => {
    expect(await facts('org', 'list')).toMatchObject([{ name: 'My organization', lapsed: false }])
    expect(await facts('user', 'list', ...own)).toMatchObject([{ email: admin.email, role: 'admin' }])
    expect(await facts('key', 'list', ...own)).toMatchObject([{ client_id: admin.client_id, name: 'First key' }])
    expect(await facts('reader', 'list')).toEqual([])
    expect(await facts('webhook', 'list')).toEqual([])
  })

  it('print a table on request, and nothing about the shared database', async () => {
    const { code, stdout, stderr } = await lastseen(['user', 'list'], settings)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(
      /^USER ID +EMAIL +ROLE +ORG ID +ORG\n\d+ +admin@example\.com +admin +\d+ +My organization\n$/,
    )
    expect((await lastseen(['reader', 'list', ...own], settings)).stdout).toBe('No readers.\n')
  })

  it('change a role from the next request on', async () => {
    const user = await facts('user', 'create', ...own, '--email', 'role@example.com', '--role', 'admin')
    const { token } = await signIn(user.email, user.password)
    const keys = `/api/v1/orgs/${user.org_id}/api-keys`
    expect((await server.send('GET', keys, { token })).status).toBe(200)
    expect(await facts('user', 'set-role', ...own, '--email', user.email, '--role', 'viewer')).toEqual({
      ...{ user_id: user.user_id, email: user.email, role: 'viewer', org_id: user.org_id },
    })
    expect((await server.send('GET', keys, { token })).status).toBe(403)
  })

  it('end the sessions of a removed member at once', async () => {
    const user = await facts('user', 'create', ...own, '--email', 'gone@example.com', '--role', 'viewer')
    const { token } = await signIn(user.email, user.password)
    expect(await me(token)).toBe(200)
    expect(await facts('user', 'remove', ...own, '--email', user.email)).toMatchObject({ removed: true })
    expect(await me(token)).toBe(401)
    expect((await signIn(user.email, user.password)).status).toBe(401)
  })

  it('set a new password, end every session and print the password once', async () => {
    const user = await facts('user', 'create', ...own, '--email', 'lost@example.com', '--role', 'viewer')
    const { token } = await signIn(user.email, user.password)
    expect(await me(token)).toBe(200)
    const reset = await facts('user', 'reset-password', '--email', user.email)
    expect(reset).toEqual({ user_id: user.user_id, email: user.email, password: expect.stringMatching(/^\S{16}$/) })
    expect(await me(token)).toBe(401)
    expect((await signIn(user.email, user.password)).status).toBe(401)
    expect((await signIn(user.email, reset.password)).status).toBe(200)
    const given = await facts('user', 'reset-password', '--email', user.email, '--password', 'correct horse battery')
    expect(given.password).toBe('correct horse battery')
  })

  it('refuse to remove the last admin', async () => {
    const ended = await lastseen(['user', 'remove', ...own, '--email', admin.email, '--json'], settings)
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: 'An organization needs at least one admin\n' })
  })

  it('print the ingest URL of the running server, whatever port they are configured with', async () => {
    const args = ['reader', 'create', ...own, '--name', 'Gate', '--json']
    const made = await lastseen(args, { ...settings, PORT: '8080' })
    expect(made.stderr).toBe('')
    expect(JSON.parse(made.stdout).ingest_url).toBe(`${server.url}/ingest/v1/reads`)
    const shown = await facts('reader', 'show', ...own, '--reader', 'Gate')
    expect(shown).toMatchObject({ ingest_url: `${server.url}/ingest/v1/reads`, reads: 0, antennas: [] })
    expect(JSON.stringify(shown)).not.toContain(JSON.parse(made.stdout).token)
  })

  it('change, rotate and delete a reader from its next message on', async () => {
    const made = await facts('reader', 'create', ...own, '--name', 'Door')
    expect((await read(made.token)).status).toBe(202)
    const named = [...own, '--reader', 'Door']
    const changed = await facts(
      'reader',
      'update',
      ...named,
      '--name',
      'Door 2',
      '--format',
      'generic',
      '--antenna',
      '4=',
    )
    expect(changed).toMatchObject({
      ...{ reader_id: made.reader_id, name: 'Door 2', format: 'generic' },
      antennas: [{ antenna: 4, location: null }],
    })
    // The server caches a token that it has just seen.
    expect((await read(made.token)).status).toBe(202)
    const rotated = await facts('reader', 'rotate', ...own, '--reader', String(made.reader_id))
    expect(rotated.mqtt).toMatchObject({ topic: made.mqtt.topic, password: rotated.token })
    expect((await read(made.token)).status).toBe(401)
    expect((await read(rotated.token)).status).toBe(202)
    expect(await facts('reader', 'update', ...own, '--reader', 'Door 2', '--no-antennas')).toMatchObject({
      antennas: [],
    })
    expect((await read(rotated.token)).status).toBe(202)
    expect(await facts('reader', 'delete', ...own, '--reader', 'Door 2')).toMatchObject({ deleted: true })
    expect((await read(rotated.token)).status).toBe(401)
  })

  it.each([
    ['nothing to change', [], /^Specify at least one change: --name, /],
    [
      'antennas given and taken away',
      ['--antenna', '1=', '--no-antennas'],
      /^--antenna and --no-antennas are mutually exclusive/,
    ],
  ])('refuse an update of a reader with %s as wrong usage', async (_what, more, line) => {
    const ended = await runCommand(['reader', 'update', ...own, '--reader', 'Gate', ...more], settings)
    expect([ended.code, ended.stdout]).toEqual([2, ''])
    expect(ended.stderr).toMatch(line)
  })

  it('print the URL of the current settings once the server has stopped', async () => {
    await server.program.stop()
    expect(existsSync(join(dataDir, 'server.json'))).toBe(false)
    const ended = await lastseen(['reader', 'create', ...own, '--name', 'Later'], { ...settings, PORT: '9090' })
    expect(ended.stderr).toContain(
      'No server is running with this data directory. With the current settings, it would accept reads at this address.\n',
    )
    expect(ended.stdout).toMatch(/^ingest_url +http:\/\/127\.0\.0\.1:9090\/ingest\/v1\/reads$/m)
  })
})
