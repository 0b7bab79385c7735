/**
 * A second process of the service, from the build: opens one server for each test file that requests it, on the file's own
 * database, in addition to the server in the test process. `POST /open` with url and settings answers with a port;
 * `POST /close` with that port stops the server. The process exits when its standard input ends.
 */
import { createServer } from 'node:http'
import { pino } from 'pino'
import { buildWorkspaces } from '../../../scripts/bootstrap.mjs'

buildWorkspaces()
const { openAppContext } = await import('../../dist/app/context.js')
const { startServer } = await import('../../dist/app/server.js')
const { readConfig } = await import('../../dist/config/config.js')

const opened = new Map()

async function open({ url, settings }) {
  const core = await openAppContext({ config: readConfig(settings), url })
  const log = pino({ level: 'silent' })
  const server = await startServer(core, { host: '127.0.0.1', port: 0, isOneOfSeveral: false, log })
  opened.set(server.port, async () => {
    await server.close(1000)
    await core.close()
  })
  return { port: server.port }
}

async function close({ port }) {
  await opened.get(port)?.()
  opened.delete(port)
  return {}
}

const control = createServer(async (request, response) => {
  try {
    let text = ''
    for await (const chunk of request) text += chunk
    const answer = await (request.url === '/open' ? open : close)(JSON.parse(text))
    response.end(JSON.stringify(answer))
  } catch (error) {
    response.writeHead(500).end(error.stack)
  }
})
control.listen(0, '127.0.0.1', () => process.stdout.write(`${control.address().port}\n`))
process.stdin.resume().on('end', () => process.exit())
