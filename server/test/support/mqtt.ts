import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import mqtt, { type MqttClient } from 'mqtt'

/** Signs in as a reader would, once; a refused login rejects. */
export function signInAt(url: string, login: { username?: string; password?: string }): Promise<MqttClient> {
  return mqtt.connectAsync(url, { ...login, reconnectPeriod: 0, connectTimeout: 10_000 }, false)
}

/** Publishes with QoS 1 and says what became of it: an acknowledgement, or the end of the connection. */
export function publish(client: MqttClient, topic: string, payload: unknown): Promise<'acknowledged' | 'cut off'> {
  const bytes = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload)
  client.setMaxListeners(0)
  if (!client.connected) return Promise.resolve('cut off')
  return new Promise((resolve) => {
    const cutOff = (): void => resolve('cut off')
    client.once('close', cutOff)
    client.publish(topic, bytes, { qos: 1 }, (error) => {
      client.off('close', cutOff)
      resolve(error ? 'cut off' : 'acknowledged')
    })
  })
}

const binary = ['/usr/sbin/mosquitto', '/usr/local/sbin/mosquitto', '/opt/homebrew/sbin/mosquitto'].find(existsSync)

/** On a developer's machine without the broker its tests are left out; in CI they must run. */
export const isBrokerMissing = binary === undefined && process.env['CI'] === undefined

/** Debian's mosquitto on a port of its own, telling all it does. It keeps messages over a restart only if told to. */
export class Mosquitto {
  readonly url: string
  log = ''
  readonly #port: number
  readonly #isKeeping: boolean
  readonly #folder = mkdtempSync(join(tmpdir(), 'lastseen-mosquitto-'))
  #child: ChildProcess | undefined

  constructor(port: number, { isKeeping = false } = {}) {
    this.#port = port
    this.#isKeeping = isKeeping
    this.url = `mqtt://127.0.0.1:${port}`
  }

  async start(): Promise<void> {
    const file = join(this.#folder, 'mosquitto.conf')
    const lines = [`listener ${this.#port} 127.0.0.1`, 'allow_anonymous true', 'log_dest stderr', 'log_type all']
    const kept = this.#isKeeping
      ? [
          'persistence true',
          `persistence_location ${this.#folder}/`,
          ...(process.getuid?.() === 0 ? ['user root'] : []),
        ]
      : ['persistence false']
    writeFileSync(file, [...lines, ...kept, 'max_queued_messages 0', ''].join('\n'))
    this.log = ''
    this.#child = spawn(binary ?? 'mosquitto', ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] })
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.log += text))
    await this.says(/mosquitto version \S+ running/, 1)
  }

  kill(): Promise<void> {
    return this.#signal('SIGKILL')
  }

  /** Ends it as a restart does: it writes down what it keeps. */
  end(): Promise<void> {
    return this.#signal('SIGTERM')
  }

  async #signal(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child!
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await gone
  }

  async stop(): Promise<void> {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  matches(pattern: RegExp): RegExpMatchArray[] {
    return [...this.log.matchAll(new RegExp(pattern, 'gm'))]
  }

  /** Waits until the log has held the pattern so many times. */
  async says(pattern: RegExp, times: number): Promise<void> {
    for (const end = Date.now() + 30_000; this.matches(pattern).length < times; await sleep(20))
      if (Date.now() > end) throw new Error(`mosquitto never said ${pattern.source}:\n${this.log.slice(-2000)}`)
  }

  /** Waits until so many server processes listen. */
  untilHeard(processes: number): Promise<void> {
    return this.says(/Sending SUBACK to lastseen-/, processes)
  }

  /** How many messages the broker handed to each server process. */
  handedOut(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const [, client] of this.matches(/Sending PUBLISH to (lastseen-\S+) /))
      counts.set(client!, (counts.get(client!) ?? 0) + 1)
    return counts
  }
}
