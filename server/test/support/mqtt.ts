import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import mqtt, { type MqttClient } from 'mqtt'

/** Connects as a reader does, without reconnecting; a rejected login rejects the promise. */
export function connectMqtt(
  url: string,
  login: { username?: string; password?: string; ca?: string },
): Promise<MqttClient> {
  return mqtt.connectAsync(url, { ...login, reconnectPeriod: 0, connectTimeout: 10_000 }, false)
}

/** Publishes with QoS 1 and returns whether the message was acknowledged or the connection ended first. */
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

/** Tests of the broker are skipped on a machine without it, except in CI. */
export const isBrokerMissing = binary === undefined && process.env['CI'] === undefined

/** Debian's mosquitto on its own port with full logging. Messages survive a restart only if `isPersistent`. */
export class Mosquitto {
  readonly url: string
  log = ''
  readonly #port: number
  readonly #isPersistent: boolean
  readonly #folder = mkdtempSync(join(tmpdir(), 'lastseen-mosquitto-'))
  #child: ChildProcess | undefined

  constructor(port: number, { isKeeping = false } = {}) {
    this.#port = port
    this.#isPersistent = isKeeping
    this.url = `mqtt://127.0.0.1:${port}`
  }

  async start(): Promise<void> {
    const file = join(this.#folder, 'mosquitto.conf')
    const lines = [`listener ${this.#port} 127.0.0.1`, 'allow_anonymous true', 'log_dest stderr', 'log_type all']
    const kept = this.#isPersistent
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
    await this.waitForLog(/mosquitto version \S+ running/, 1)
  }

  kill(): Promise<void> {
    return this.#signal('SIGKILL')
  }

  /** Stops the broker with SIGTERM, so that it saves its persistent messages. */
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

  /** Waits until the log contains the pattern this many times. */
  async waitForLog(pattern: RegExp, times: number): Promise<void> {
    for (const end = Date.now() + 30_000; this.matches(pattern).length < times; await sleep(20))
      if (Date.now() > end) throw new Error(`mosquitto never logged ${pattern.source}:\n${this.log.slice(-2000)}`)
  }

  /** Waits until this many server processes are subscribed. */
  waitForSubscribers(processes: number): Promise<void> {
    return this.waitForLog(/Sending SUBACK to lastseen-/, processes)
  }

  /** Counts the messages that the broker delivered to each server process. */
  deliveredCounts(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const [, client] of this.matches(/Sending PUBLISH to (lastseen-\S+) /))
      counts.set(client!, (counts.get(client!) ?? 0) + 1)
    return counts
  }
}
