import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })
}

function untilReady(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      said += text
      const [, url] = /^Lastseen is ready: (http:\S+)/m.exec(said) ?? []
      if (url !== undefined) resolve(url)
    })
    child.once('exit', () => reject(new Error(`The server ended before it was ready:\n${said}`)))
  })
}

/** The whole program over a database of its own, as people run it. What it says goes where mails would go. */
export default async function start(): Promise<() => Promise<void>> {
  const data = mkdtempSync(join(tmpdir(), 'lastseen-browser-'))
  // PostgreSQL under root runs as another user, who must be able to enter the folder.
  chmodSync(data, 0o755)
  const kept = Object.entries(process.env).filter(([name]) => !/^(LASTSEEN_|DATABASE_URL|NODE_OPTIONS|npm_)/.test(name))
  const port = String(await freePort())
  const settings = { PORT: port, LASTSEEN_DATA_DIR: data, LASTSEEN_MQTT_PORT: '0', LASTSEEN_LOG_LEVEL: 'warn' }
  const child = spawn(process.execPath, [join(root, 'server/bin/lastseen.mjs'), 'serve'], {
    cwd: root,
    env: { ...Object.fromEntries(kept), ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  process.env['BROWSER_TEST_URL'] = await untilReady(child)
  return async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await ended
    rmSync(data, { recursive: true, force: true })
  }
}
