import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Balancer } from '../support/balancer.ts'
import { lacks, mustRunAll } from '../support/packaging.ts'
import { buildCommit, previousCommit } from '../support/previous-version.ts'
import {
  type LaunchOptions,
  type Program,
  emptyDatabase,
  freePort,
  launch,
  lastseen,
  newFolder,
  serve,
  usePrograms,
} from '../support/process.ts'
import { RollingLoad } from '../support/rolling-load.ts'

usePrograms()

const nginx = '/usr/sbin/nginx'
const commit = previousCommit()

let database: Awaited<ReturnType<typeof emptyDatabase>>
const onEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of onEnd.splice(0).reverse()) await end()
})

async function openDatabase(): Promise<Record<string, string>> {
  database = await emptyDatabase()
  onEnd.push(() => database.drop())
  return { DATABASE_URL: database.url, LASTSEEN_MQTT_PORT: '0', LASTSEEN_LOG_LEVEL: 'error' }
}

/** A process on a fixed port, which is stopped and started again. */
class RollingProcess {
  readonly url: string
  readonly #settings: Record<string, string>
  #program: Program | undefined

  constructor(settings: Record<string, string>, port: number) {
    this.#settings = { ...settings, PORT: String(port) }
    this.url = `http://127.0.0.1:${port}`
    onEnd.push(() => this.stop())
  }

  async start(options: LaunchOptions = {}): Promise<void> {
    this.#program = (await serve(this.#settings, options)).program
  }

  async stop(): Promise<void> {
    const ended = await this.#program?.stop()
    if (ended !== undefined) expect(ended.code, ended.stderr).toBe(0)
    this.#program = undefined
  }
}

async function json(args: string[], settings: Record<string, string>, main?: string): Promise<unknown> {
  const ended = await (main === undefined
    ? lastseen([...args, '--json'], settings)
    : launch(settings, { command: [process.execPath, main], args: [...args, '--json'] }).ended)
  expect(ended.code, ended.stderr).toBe(0)
  return JSON.parse(ended.stdout)
}

describe('A rolling restart of two processes under load', () => {
  it('fails no request and loses or doubles nothing, behind a balancer that checks /readyz', async () => {
    const settings = { ...(await openDatabase()), LASTSEEN_SHUTDOWN_DELAY_SECONDS: '2' }
    const processes = [new RollingProcess(settings, await freePort()), new RollingProcess(settings, await freePort())]
    for (const one of processes) await one.start()
    const balancer = new Balancer(processes.map(({ url }) => url))
    const url = await balancer.start()
    onEnd.push(() => balancer.stop())
    await balancer.untilReady(2)
    const load = new RollingLoad(url, { keepsAlive: true })
    await load.prepare((args) => json(args, settings), 4)
    load.start()
    await load.waitFor(200)
    for (const one of processes) {
      await one.stop()
      await load.waitFor(100)
      await one.start()
      await balancer.untilReady(2)
      await load.waitFor(200)
    }
    await load.finish()
    expect(load.failures).toEqual([])
    await load.expectComplete(database.url)
  }, 240_000)
})

/** nginx in front of both processes; the operator takes one out of service by marking it as down. */
class Nginx {
  readonly #folder = newFolder()
  readonly #file = join(this.#folder, 'nginx.conf')
  readonly #servers: readonly string[]
  readonly #port: number
  #child: ChildProcess | undefined

  constructor(urls: readonly string[], port: number) {
    this.#servers = urls.map((url) => new URL(url).host)
    this.#port = port
  }

  async start(): Promise<string> {
    this.#write(null)
    this.#child = spawn(nginx, ['-c', this.#file, '-p', this.#folder], { stdio: 'ignore' })
    const url = `http://127.0.0.1:${this.#port}`
    await vi.waitFor(async () => expect((await fetch(`${url}/healthz`)).status).toBe(200), { timeout: 20_000 })
    return url
  }

  /** Sends no further requests to this process, or to all of them again, as `nginx -s reload` does. */
  async takeOut(url: string | null): Promise<void> {
    this.#write(url === null ? null : new URL(url).host)
    this.#child!.kill('SIGHUP')
    await sleep(1000)
  }

  async stop(): Promise<void> {
    this.#child!.kill()
    await once(this.#child!, 'exit')
  }

  #write(down: string | null): void {
    const servers = this.#servers.map((server) => `server ${server}${server === down ? ' down' : ''};`)
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${this.#folder}/${name};`,
    )
    writeFileSync(
      this.#file,
      `daemon off; pid ${this.#folder}/nginx.pid; error_log ${this.#folder}/error.log; events {}
      http { access_log off; ${paths.join(' ')}
        upstream lastseen { ${servers.join(' ')} keepalive 16; }
        server { listen 127.0.0.1:${this.#port};
          location / { proxy_pass http://lastseen; proxy_http_version 1.1; proxy_set_header Connection "";
            proxy_set_header Host $host; proxy_request_buffering off; } } }`,
    )
  }
}

describe.skipIf((commit === null && !mustRunAll) || lacks(nginx))('An upgrade of two processes under load', () => {
  it('from an earlier commit fails no request and loses or doubles nothing, behind nginx', async () => {
    const main = buildCommit(commit!)
    const previous: LaunchOptions = { command: [process.execPath, main], args: ['serve'] }
    const settings = await openDatabase()
    const processes = [new RollingProcess(settings, await freePort()), new RollingProcess(settings, await freePort())]
    for (const one of processes) await one.start(previous)
    const proxy = new Nginx(
      processes.map(({ url }) => url),
      await freePort(),
    )
    const url = await proxy.start()
    onEnd.push(() => proxy.stop())
    const load = new RollingLoad(url, { keepsAlive: false })
    await load.prepare((args) => json(args, settings, main), 4)
    load.start()
    await load.waitFor(200)
    for (const one of processes) {
      await proxy.takeOut(one.url)
      await one.stop()
      await load.waitFor(100)
      // The first start migrates the schema, if it has changed; the process of the previous version goes on to use it.
      await one.start()
      await load.waitFor(200)
      await proxy.takeOut(null)
      await load.waitFor(200)
    }
    await load.finish()
    expect(load.failures).toEqual([])
    await load.expectComplete(database.url)
  }, 300_000)
})
