/**
 * A second process of the service, from the build: opens one server for each test file that asks, on the file's own
 * database, beside the server in the process of the tests. `POST /open` with url and settings answers with a port;
 * `POST /close` with that port ends it and answers with the statements that it ran. Ends when its standard input does.
 */
import { createServer } from 'node:http'
import { pino } from 'pino'
import { buildWorkspaces } from '../../../scripts/bootstrap.mjs'

buildWorkspaces()
const { openAppContext } = await import('../../dist/app/context.js')
const { startServer } = await import('../../dist/app/server.js')
const { readConfig } = await import('../../dist/config/config.js')
const { render } = await import('../../dist/db/sql.js')

const opened = new Map()

/** As in statements.ts: the literal parts of a template. */
const templatePrint = (strings) => strings.join('\u0000')

/** A value as JSON can hold it; the first elements stand for a list. */
function example(value) {
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  return Array.isArray(value) ? value.slice(0, 3) : value
}

async function open({ url, settings }) {
  const statements = new Map()
  const onStatement = (statement) => {
    const { text, values } = render(statement)
    if (statements.has(text)) return
    statements.set(text, { text, values: values.map(example), templates: statement.templates.map(templatePrint) })
  }
  const context = await openAppContext({ config: readConfig(settings), url, onStatement })
  const log = pino({ level: 'silent' })
  const server = await startServer(context, { host: '127.0.0.1', port: 0, isOneOfSeveral: false, log })
  opened.set(server.port, async () => {
    await server.close(1000)
    await context.close()
    return [...statements.values()]
  })
  return { port: server.port }
}

async function close({ port }) {
  const statements = await opened.get(port)?.()
  opened.delete(port)
  return statements ?? []
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
