import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Balancer } from '../support/balancer.ts'
import { Mosquitto, isBrokerMissing } from '../support/mqtt.ts'
import { lacks, mustRunAll } from '../support/packaging.ts'
import { buildCommit, previousCommit } from '../support/previous-version.ts'
import { freePort } from '../support/free-port.ts'
import {
  type LaunchOptions,
  type Program,
  emptyDatabase,
  launch,
  lastseen,
  newFolder,
  serve,
  usePrograms,
} from '../support/process.ts'
import { type LoadOptions, RollingLoad } from '../support/rolling-load.ts'
import { WebhookConsumer } from '../support/webhook-consumer.ts'

usePrograms()

const nginx = '/usr/sbin/nginx'
const commit = previousCommit()

let database: Awaited<ReturnType<typeof emptyDatabase>>
let webhook: WebhookConsumer
const onEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of onEnd.splice(0).reverse()) await end()
})

/** Creates a database and an endpoint for webhooks, and returns the settings of the processes. */
async function createDependencies(): Promise<Record<string, string>> {
  database = await emptyDatabase()
  onEnd.push(() => database.drop())
  webhook = await WebhookConsumer.open()
  onEnd.push(() => webhook.close())
  return { DATABASE_URL: database.url, LASTSEEN_LOG_LEVEL: 'error', ...webhook.settings }
}

/** A process on a fixed port, which is stopped and started again. */
class RollingProcess {
  readonly url: string
  readonly mqttUrl: string
  readonly #settings: Record<string, string>
  #program: Program | undefined

  private constructor(settings: Record<string, string>, port: number, mqttPort: number) {
    this.#settings = { LASTSEEN_MQTT_PORT: String(mqttPort), ...settings, PORT: String(port) }
    this.url = `http://127.0.0.1:${port}`
    this.mqttUrl = `mqtt://127.0.0.1:${mqttPort}`
    onEnd.push(() => this.stop())
  }

  static async create(settings: Record<string, string>): Promise<RollingProcess> {
    return new RollingProcess(settings, await freePort(), await freePort())
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

/** Starts both processes behind a balancer that checks `/readyz`, and restarts one after the other under load. */
async function restartBoth(given: Record<string, string>, load: Pick<LoadOptions, 'isBrokerOutside'> = {}) {
  const settings = { ...given, LASTSEEN_SHUTDOWN_DELAY_SECONDS: '2' }
  const processes = [await RollingProcess.create(settings), await RollingProcess.create(settings)]
  for (const one of processes) await one.start()
  const balancer = new Balancer(processes.map(({ url }) => url))
  const url = await balancer.start()
  onEnd.push(() => balancer.stop())
  await balancer.untilReady(2)
  const mqttUrls = load.isBrokerOutside ? [given['LASTSEEN_MQTT_URL']!] : processes.map(({ mqttUrl }) => mqttUrl)
  const rolling = new RollingLoad(url, {
    keepsAlive: true,
    httpReaders: 3,
    mqttReaders: 3,
    mqttUrls,
    databaseUrl: database.url,
    webhook,
    ...load,
  })
  onEnd.push(() => rolling.close())
  await rolling.prepare((args) => json(args, settings))
  await rolling.start()
  await rolling.waitFor(200)
  for (const one of processes) {
    await one.stop()
    await rolling.waitFor(100)
    await one.start()
    await balancer.untilReady(2)
    await rolling.waitFor(200)
  }
  await rolling.finish()
  expect(rolling.failures).toEqual([])
  await rolling.expectComplete()
  return rolling
}

describe('A rolling restart of two processes under load', () => {
  it('fails no request, loses or doubles no read and no move, and interrupts the live stream without a gap', async () => {
    const { resent } = await restartBoth(await createDependencies())
    // Both processes closed the connections to their embedded brokers.
    expect(resent).toBeGreaterThan(0)
  }, 480_000)

  it.skipIf(isBrokerMissing)(
    'does so with an external broker that both processes share',
    async () => {
      const broker = new Mosquitto(await freePort(), { isKeeping: true })
      await broker.start()
      onEnd.push(() => broker.stop())
      const mqtt = { LASTSEEN_MQTT_URL: broker.url, LASTSEEN_MQTT_SHARE: 'always' }
      await restartBoth({ ...(await createDependencies()), ...mqtt }, { isBrokerOutside: true })
    },
    480_000,
  )
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
  it('from an earlier commit fails no request, loses or doubles nothing, and leaves no gap in the live stream, behind nginx', async () => {
    const main = buildCommit(commit!)
    const previous: LaunchOptions = { command: [process.execPath, main], args: ['serve'] }
    const settings = await createDependencies()
    const processes = [await RollingProcess.create(settings), await RollingProcess.create(settings)]
    for (const one of processes) await one.start(previous)
    const proxy = new Nginx(
      processes.map(({ url }) => url),
      await freePort(),
    )
    const url = await proxy.start()
    onEnd.push(() => proxy.stop())
    const mqttUrls = processes.map(({ mqttUrl }) => mqttUrl)
    const load = new RollingLoad(url, {
      keepsAlive: false,
      httpReaders: 2,
      mqttReaders: 2,
      mqttUrls,
      databaseUrl: database.url,
      webhook,
    })
    onEnd.push(() => load.close())
    await load.prepare((args) => json(args, settings, main))
    await load.start()
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
    await load.expectComplete()
  }, 600_000)
})
