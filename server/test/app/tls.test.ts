import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TLSSocket, connect as connectTls } from 'node:tls'
import { connect } from 'node:net'
import { once } from 'node:events'
import mqtt from 'mqtt'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openAppContext } from '../../src/app/context.ts'
import { type RunningServer, startServer } from '../../src/app/server.ts'
import { readConfig } from '../../src/config/config.ts'
import { Authority, type KeyPair } from '../support/certificates.ts'
import { freePort } from '../support/free-port.ts'
import { Site, useTracking } from '../support/tracking.ts'

const context = useTracking('2026-09-22T00:00:00Z')
const authority = new Authority()
const folder = mkdtempSync(join(tmpdir(), 'lastseen-tls-'))
const [certPath, keyPath] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
const logged: { event?: string }[] = []
let mqttPort: number
let server: RunningServer
let stop: () => Promise<void>

/** Replaces a file at once, as certificate tools do. */
function replace(path: string, text: string): void {
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}

function install({ cert, key }: KeyPair): void {
  replace(certPath, cert)
  replace(keyPath, key)
}

beforeAll(async () => {
  install(authority.issue('IP:127.0.0.1', 'DNS:first.test'))
  mqttPort = await freePort()
  const settings = {
    DATABASE_URL: context.app.databaseUrl,
    LASTSEEN_TLS_CERT: certPath,
    LASTSEEN_TLS_KEY: keyPath,
    LASTSEEN_MQTT_PORT: String(mqttPort),
  }
  const appContext = await openAppContext({ config: readConfig(settings), url: context.app.databaseUrl })
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line) as object) })
  server = await startServer(appContext, { host: '127.0.0.1', port: 0, isOneOfSeveral: true, log })
  stop = async () => {
    await server.close(1000)
    await appContext.close()
  }
})
afterAll(async () => {
  await stop()
  authority.remove()
  rmSync(folder, { recursive: true, force: true })
})

/** A request on a new connection: its status, and the names in the server's certificate. */
async function request(path: string): Promise<{ status: number; names: string }> {
  const options = { host: '127.0.0.1', port: server.port, path, ca: authority.certificate, agent: false }
  const [response] = (await once(get(options), 'response')) as [IncomingMessage]
  const names = (response.socket as TLSSocket).getPeerCertificate().subjectaltname ?? ''
  response.resume()
  return { status: response.statusCode!, names }
}

/** The names in the certificate of the MQTT broker. */
async function brokerNames(): Promise<string> {
  const socket = connectTls({ host: '127.0.0.1', port: mqttPort, ca: authority.certificate })
  await once(socket, 'secureConnect')
  const names = socket.getPeerCertificate().subjectaltname ?? ''
  socket.destroy()
  return names
}

describe('With a certificate', () => {
  it('the HTTP port serves HTTPS', async () => {
    expect(await request('/healthz')).toEqual({ status: 200, names: 'IP Address:127.0.0.1, DNS:first.test' })
  })

  it('the HTTP port closes a connection without TLS', async () => {
    const socket = connect({ port: server.port, host: '127.0.0.1' })
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    let text = ''
    socket.on('data', (chunk) => (text += chunk.toString('latin1')))
    socket.on('error', () => undefined)
    await once(socket, 'close')
    expect(text).not.toContain('HTTP/1.1')
  })

  it('the embedded broker serves MQTT over TLS', async () => {
    expect(server.notices).toEqual([`MQTT broker for readers: mqtts://127.0.0.1:${mqttPort}`])
    const site = await Site.open(context.app, 'Dock')
    const login = { username: String(site.readerId), password: site.token }
    const options = { ...login, ca: [authority.certificate], reconnectPeriod: 0 }
    const client = await mqtt.connectAsync(`mqtts://127.0.0.1:${mqttPort}`, options, false)
    expect(client.connected).toBe(true)
    await client.endAsync()
    await expect(
      mqtt.connectAsync(`mqtt://127.0.0.1:${mqttPort}`, { ...login, reconnectPeriod: 0 }, false),
    ).rejects.toThrow()
  })

  it('a renewed certificate is used for HTTPS and MQTT without a restart, and a file that cannot be used changes nothing', async () => {
    replace(certPath, 'not a certificate')
    await expect.poll(() => logged.map(({ event }) => event), { timeout: 20_000 }).toContain('tls.failed')
    expect((await request('/healthz')).names).toContain('first.test')
    expect(await brokerNames()).toContain('first.test')
    install(authority.issue('IP:127.0.0.1', 'DNS:second.test'))
    await expect.poll(async () => (await request('/healthz')).names, { timeout: 20_000 }).toContain('second.test')
    await expect.poll(brokerNames, { timeout: 20_000 }).toContain('second.test')
    expect(logged.map(({ event }) => event)).toContain('tls.reloaded')
  })
})

describe('The settings of the certificate', () => {
  it('come together', () => {
    expect(() => readConfig({ LASTSEEN_TLS_CERT: certPath })).toThrow('expected both or neither')
  })

  it('that name files without a key pair stop the start with the reason', async () => {
    const settings = { DATABASE_URL: context.app.databaseUrl, LASTSEEN_TLS_CERT: certPath, LASTSEEN_TLS_KEY: certPath }
    const appContext = await openAppContext({ config: readConfig(settings), url: context.app.databaseUrl })
    const options = { host: '127.0.0.1', port: 0, isOneOfSeveral: true, log: pino({ level: 'silent' }) }
    await expect(startServer(appContext, options)).rejects.toThrow(
      'LASTSEEN_TLS_CERT and LASTSEEN_TLS_KEY cannot be used',
    )
    await appContext.close()
  })
})
