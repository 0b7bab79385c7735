import { describe, expect, it } from 'vitest'
import { emptyDatabase, serve, serveOnTerminal, usePrograms } from '../support/process.ts'

usePrograms()

const request = /\[\d\d:\d\d:\d\d\.\d{3}\] .*INFO.*: .*GET \/nowhere 404 [\d.]+ ms/
// eslint-disable-next-line no-control-regex
const colour = /\u001b\[\d+m/g

describe('the log', { timeout: 120_000 }, () => {
  it('is one JSON object per line when standard output is not a terminal', async () => {
    const database = await emptyDatabase()
    const server = await serve({ DATABASE_URL: database.url })
    await server.send('GET', '/nowhere')
    const { stdout } = await server.program.stop()
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([{ event: 'http.answered', method: 'GET', path: '/nowhere', status: 404, pid: server.program.pid }])
    await database.drop()
  })

  it('is human-readable on request, without colours when standard output is not a terminal', async () => {
    const database = await emptyDatabase()
    const server = await serve({ DATABASE_URL: database.url, LASTSEEN_LOG_FORMAT: 'pretty' })
    await server.send('GET', '/nowhere')
    const { stdout } = await server.program.stop()
    expect(stdout).toMatch(request)
    expect(stdout).toMatch(/"requestId":/)
    expect(stdout).not.toContain('\u001b')
    await database.drop()
  })

  it.each([
    ['auto', request],
    ['json', /^\{"level":30,.*"event":"http\.answered",.*"path":"\/nowhere"/m],
  ])('on a terminal follows LASTSEEN_LOG_FORMAT=%s', async (format, line) => {
    const database = await emptyDatabase()
    const server = await serveOnTerminal({ DATABASE_URL: database.url, LASTSEEN_LOG_FORMAT: format })
    await server.send('GET', '/nowhere')
    await expect.poll(() => server.program.stdout.replace(colour, ''), { timeout: 10_000 }).toMatch(line)
    await server.program.stop()
    await database.drop()
  })
})
