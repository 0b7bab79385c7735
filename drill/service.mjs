/** The service under test: one server process with its embedded database, and TCP proxies for its clients. */
import { readFileSync, truncateSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { freePort, startServer, withClient } from '../bench/environment.mjs'

/** Forwards TCP connections to another port; `cut` closes all of them. */
async function startTcpProxy(target) {
  const sockets = new Set()
  const server = createServer((inbound) => {
    const outbound = connect({ port: target, host: '127.0.0.1', noDelay: true })
    for (const [from, to] of [
      [inbound, outbound],
      [outbound, inbound],
    ]) {
      sockets.add(from)
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.pipe(to)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: server.address().port,
    cut,
    async stop() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}

export class Service {
  #server
  #settings
  #logFolder
  #proxies = []

  /** Clients use these ports; they stay the same when the server is restarted. */
  httpPort
  mqttPort

  /** With a `broker`, MQTT clients connect to the broker, and the server subscribes to it. */
  async start(folder, { settings = {}, broker, logFolder = folder } = {}) {
    this.#logFolder = logFolder
    const [http, mqtt] = [await freePort(), await freePort()]
    this.#settings = {
      PORT: String(http),
      LASTSEEN_DATA_DIR: join(folder, 'data'),
      ...(broker === undefined
        ? { LASTSEEN_MQTT_PORT: String(mqtt) }
        : { LASTSEEN_MQTT_URL: `mqtt://127.0.0.1:${broker.port}` }),
      ...settings,
    }
    await this.#startServer()
    this.#proxies = [await startTcpProxy(http), await startTcpProxy(broker?.port ?? mqtt)]
    ;[this.httpPort, this.mqttPort] = this.#proxies.map(({ port }) => port)
    return this
  }

  async #startServer() {
    this.#server = await startServer({ folder: this.#logFolder, settings: this.#settings })
  }

  async stop() {
    for (const proxy of this.#proxies) await proxy.stop()
    await this.#server.stop()
  }

  get pid() {
    return this.#server.pid
  }

  /** The server's own port, without the proxy. */
  get serverPort() {
    return this.#server.port
  }

  /** What the server has written to its standard output since its log was cleared. */
  readLog() {
    return readFileSync(join(this.#logFolder, 'server.log'), 'utf8')
  }

  clearLog() {
    truncateSync(join(this.#logFolder, 'server.log'))
  }

  /** The pid of the postmaster, from its pid file. */
  get databasePid() {
    return Number(this.#pidFileLines()[0])
  }

  get databaseUrl() {
    const data = this.#settings.LASTSEEN_DATA_DIR
    const password = encodeURIComponent(readFileSync(join(data, 'postgres.superuser-password'), 'utf8').trim())
    return `postgres://postgres:${password}@127.0.0.1:${this.#pidFileLines()[3]}/lastseen`
  }

  #pidFileLines() {
    return readFileSync(join(this.#settings.LASTSEEN_DATA_DIR, 'postgres/postmaster.pid'), 'utf8').split('\n')
  }

  async killServer() {
    process.kill(this.pid, 'SIGKILL')
    await this.#startServer()
  }

  cutConnections() {
    for (const proxy of this.#proxies) proxy.cut()
  }

  /** Runs `work` with a superuser connection; retries until the database accepts connections. */
  async withDatabase(work) {
    for (let attempt = 0; ; attempt++) {
      try {
        return await withClient(this.databaseUrl, work)
      } catch (error) {
        if (attempt === 100) throw error
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  }
}
