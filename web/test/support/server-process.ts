import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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

function untilReady(child: ChildProcess, log: string): Promise<{ url: string; greeting: string }> {
  writeFileSync(log, '')
  return new Promise((resolve, reject) => {
    let said = ''
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      appendFileSync(log, text)
      said += text
      const [, url] = /^Lastseen is ready: (http:\S+)/m.exec(said) ?? []
      if (url !== undefined) resolve({ url, greeting: said })
    })
    child.once('exit', () => reject(new Error(`The server ended before it was ready:\n${said}`)))
  })
}

export interface ServerProcess {
  url: string
  /** What it said before it was ready; the first start names the admin of the first organization. */
  greeting: string
  /** The file with everything it says to whoever runs it; what would be mailed stands there. */
  log: string
  stop(): Promise<void>
}

/** The whole program over a database of its own, as people run it. */
export async function startServer(more: Record<string, string> = {}): Promise<ServerProcess> {
  const data = mkdtempSync(join(tmpdir(), 'lastseen-browser-'))
  // PostgreSQL under root runs as another user, who must be able to enter the folder.
  chmodSync(data, 0o755)
  const kept = Object.entries(process.env).filter(([name]) => !/^(LASTSEEN_|DATABASE_URL|NODE_OPTIONS|npm_)/.test(name))
  const port = String(await freePort())
  const settings = { PORT: port, LASTSEEN_DATA_DIR: data, LASTSEEN_MQTT_PORT: '0', LASTSEEN_LOG_LEVEL: 'warn', ...more }
  const child = spawn(process.execPath, [join(root, 'server/bin/lastseen.mjs'), 'serve'], {
    cwd: root,
    env: { ...Object.fromEntries(kept), ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const log = `${data}.log`
  return {
    ...(await untilReady(child, log)),
    log,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
      for (const path of [data, log]) rmSync(path, { recursive: true, force: true })
    },
  }
}
