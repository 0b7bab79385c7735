import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../../server/test/support/free-port.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

function waitUntilReady(child: ChildProcess, log: string): Promise<{ url: string; startupOutput: string }> {
  writeFileSync(log, '')
  return new Promise((resolve, reject) => {
    let output = ''
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      appendFileSync(log, text)
      output += text
      const [, url] = /^Lastseen is ready: (http:\S+)/m.exec(output) ?? []
      if (url !== undefined) resolve({ url, startupOutput: output })
    })
    child.once('exit', () => reject(new Error(`The server ended before it was ready:\n${output}`)))
  })
}

export interface ServerProcess {
  url: string
  /** The output until the server was ready. The first start prints the admin of the first organization. */
  startupOutput: string
  /** The file with the server's log, which contains the mails that are not sent. */
  log: string
  stop(): Promise<void>
}

/** Starts the server with its own embedded database. */
export async function startServer(more: Record<string, string> = {}): Promise<ServerProcess> {
  const data = mkdtempSync(join(tmpdir(), 'lastseen-browser-'))
  // When the tests run as root, PostgreSQL runs as another user, who needs access to the folder.
  chmodSync(data, 0o755)
  const env = Object.entries(process.env).filter(([name]) => !/^(LASTSEEN_|DATABASE_URL|NODE_OPTIONS|npm_)/.test(name))
  const port = String(await freePort())
  const settings = { PORT: port, LASTSEEN_DATA_DIR: data, LASTSEEN_MQTT_PORT: '0', LASTSEEN_LOG_LEVEL: 'warn', ...more }
  const child = spawn(process.execPath, [join(root, 'server/bin/lastseen.mjs'), 'serve'], {
    cwd: root,
    env: { ...Object.fromEntries(env), ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const log = `${data}.log`
  return {
    ...(await waitUntilReady(child, log)),
    log,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
      for (const path of [data, log]) rmSync(path, { recursive: true, force: true })
    },
  }
}
