import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MqttClient } from 'mqtt'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestApp, startApp } from '../support/app.ts'
import { connectMqtt, isBrokerMissing, publish } from '../support/mqtt.ts'
import { Authority } from '../support/certificates.ts'
import { freePort } from '../support/free-port.ts'
import { newFolder, repository, usePrograms } from '../support/process.ts'
import { Site, type SiteAsset, closeDatabase, database, eventually } from '../support/tracking.ts'

usePrograms({ isBuilt: false })

/** Debian's broker with packaging/mosquitto.conf and mosquitto.acl, whose paths are in a temporary folder. */
describe.skipIf(isBrokerMissing)('A broker that is configured as packaged', () => {
  const own = { username: 'lastseen', password: 'password-of-lastseen' }
  const connections: MqttClient[] = []
  let broker: ChildProcess
  let passwords: string
  let url: string
  let tlsUrl: string
  const authority = new Authority()
  let app: TestApp
  let [first, second]: { username: string; password: string }[] = []
  let site: Site
  let asset: SiteAsset

  /** The command with which the guide adds an account. */
  const addAccount = ({ username, password }: { username: string; password: string }): void => {
    execFileSync('mosquitto_passwd', ['-b', passwords, username, password], { stdio: 'ignore' })
    broker?.kill('SIGHUP')
  }

  const connect = async (login: { username: string; password: string }, at = url): Promise<MqttClient> => {
    const client = await connectMqtt(at, { ...login, ca: authority.certificate })
    connections.push(client)
    return client
  }

  beforeAll(async () => {
    const folder = newFolder()
    mkdirSync(join(folder, 'data'))
    chmodSync(join(folder, 'data'), 0o777)
    passwords = join(folder, 'data/passwords')
    writeFileSync(passwords, '')
    const port = await freePort()
    const read = (name: string): string => readFileSync(join(repository, 'packaging', name), 'utf8')
    writeFileSync(join(folder, 'mosquitto.acl'), read('mosquitto.acl'))
    const settings = read('mosquitto.conf')
      .replace('listener 1883', `listener ${port} 127.0.0.1`)
      .replaceAll('/mosquitto/data', join(folder, 'data'))
      .replace('/mosquitto/config', folder)
    const tlsPort = await freePort()
    const manual = readFileSync(join(repository, 'docs/operating/install-container.md'), 'utf8')
    const listener = /^listener 8883\n[^`]*/m
      .exec(manual)![0]
      .replace('listener 8883', `listener ${tlsPort} 127.0.0.1`)
      .replaceAll('/mosquitto/tls', folder)
    const { key, cert } = authority.issue('IP:127.0.0.1')
    writeFileSync(join(folder, 'fullchain.pem'), cert)
    writeFileSync(join(folder, 'privkey.pem'), key)
    tlsUrl = `mqtts://127.0.0.1:${tlsPort}`
    const root = process.getuid?.() === 0 ? 'user root\n' : ''
    writeFileSync(join(folder, 'mosquitto.conf'), `${settings}${root}log_dest stderr\n${listener}`)
    execFileSync('mosquitto_passwd', ['-b', passwords, own.username, own.password], { stdio: 'ignore' })
    broker = spawn('/usr/sbin/mosquitto', ['-c', join(folder, 'mosquitto.conf')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let log = ''
    broker.stderr!.setEncoding('utf8').on('data', (text: string) => (log += text))
    await eventually(async () => expect(log).toMatch(/version \S+ running/))
    url = `mqtt://127.0.0.1:${port}`
    const address = `mqtt://${own.username}:${own.password}@127.0.0.1:${port}`
    app = await startApp({
      settings: { LASTSEEN_MQTT_URL: address, LASTSEEN_MQTT_SHARE: 'always' },
      isOneOfSeveral: true,
    })
    site = await Site.open(app, 'Dock', 'Hall')
    asset = await site.createAsset('Pallet')
    const [row] = await database(app)`select topic_key from readers where id = ${site.readerId}`
    first = { username: row!['topic_key'] as string, password: 'token-of-the-first' }
    second = { username: '0123456789abcdef0123456789abcdef', password: 'token-of-the-second' }
    addAccount(first)
    addAccount(second)
  })
  afterAll(async () => {
    for (const client of connections) await client.endAsync(true)
    await closeDatabase(app)
    await app.stop()
    broker.kill()
    await once(broker, 'exit')
    authority.remove()
  })

  it('accepts the same accounts over TLS', async () => {
    await expect.poll(() => connect(first!, tlsUrl).then(Boolean, () => false), { timeout: 10_000 }).toBe(true)
    await expect(connect({ ...first!, password: 'wrong' }, tlsUrl)).rejects.toThrow(/not authori[sz]ed/i)
    await expect(connectMqtt(tlsUrl, first!)).rejects.toThrow(/certificate/)
  })

  const message = () => ({ reads: [{ tag: asset.tag, antenna: 1, observed_at: new Date().toISOString() }] })
  const countReads = async (): Promise<number> => {
    const [row] = await database(app)`select count(*)::int as count from asset_minutes where org_id = ${site.org.orgId}`
    return row!['count'] as number
  }

  it('accepts accounts that are added while it runs, and no other sign-in', async () => {
    await expect.poll(() => connect(first!).then(Boolean, () => false), { timeout: 10_000 }).toBe(true)
    await expect(connect({ ...first!, password: 'wrong' })).rejects.toThrow(/not authori[sz]ed/i)
    await expect(connectMqtt(url, {})).rejects.toThrow(/not authori[sz]ed/i)
  })

  it('drops what a reader publishes below the topic of another reader', async () => {
    const observer = await connect(own)
    const topics: string[] = []
    observer.on('message', (topic) => topics.push(topic))
    await observer.subscribeAsync('lastseen/#', { qos: 1 })
    await expect.poll(() => connect(second!).then(Boolean, () => false), { timeout: 10_000 }).toBe(true)
    const client = await connect(second!)
    await publish(client, `lastseen/${first!.username}/reads`, message())
    await publish(client, `lastseen/${second!.username}/reads`, message())
    await eventually(async () => expect(topics).toContain(`lastseen/${second!.username}/reads`))
    expect(topics).not.toContain(`lastseen/${first!.username}/reads`)
    expect(await countReads()).toBe(0)
  })

  it('lets a reader subscribe to nothing, not even to its own topic', async () => {
    const listener = await connect(second!)
    const received: string[] = []
    listener.on('message', (topic) => received.push(topic))
    for (const topic of ['lastseen/#', `lastseen/${first!.username}/#`, `lastseen/${second!.username}/reads`, '#'])
      await listener.subscribeAsync(topic, { qos: 1 }).catch(() => undefined)
    const client = await connect(second!)
    await publish(client, `lastseen/${second!.username}/reads`, message())
    const writer = await connect(first!)
    expect(await publish(writer, `lastseen/${first!.username}/reads`, message())).toBe('acknowledged')
    // By now the broker has passed on both messages to those who may read them.
    await eventually(async () => expect(await countReads()).toBe(1))
    expect(received).toEqual([])
  })
})
