import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import mqtt from 'mqtt'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Authority } from '../support/certificates.ts'
import { publish } from '../support/mqtt.ts'
import { lacks } from '../support/packaging.ts'
import { freePort } from '../support/free-port.ts'
import { newFolder, repository } from '../support/process.ts'
import { Site, eventually, useTracking } from '../support/tracking.ts'

const binary = '/usr/sbin/nginx'
const streamModule = '/usr/lib/nginx/modules/ngx_stream_module.so'
const brokerPort = await freePort()
const context = useTracking('2026-09-22T00:00:00Z', {
  settings: { LASTSEEN_MQTT_PORT: String(brokerPort) },
  singleServerReason: 'only one server can have the port of the broker',
})

/** nginx with the block of docs/operating/tls.md, whose ports and files are those of this test. */
describe.skipIf(lacks(binary, streamModule))(
  'nginx in front of the embedded broker, configured as in the manual,',
  () => {
    const authority = new Authority()
    let port: number
    let proxy: ChildProcess

    beforeAll(async () => {
      port = await freePort()
      const folder = newFolder()
      const { cert, key } = authority.issue('IP:127.0.0.1')
      writeFileSync(join(folder, 'cert.pem'), cert)
      writeFileSync(join(folder, 'key.pem'), key)
      const [, block] = /^```text\n(stream \{[^]*?)\n```$/m.exec(
        readFileSync(join(repository, 'docs/operating/tls.md'), 'utf8'),
      )!
      const recipe = block!
        .replace('listen 8883', `listen 127.0.0.1:${port}`)
        .replace('127.0.0.1:1883', `127.0.0.1:${brokerPort}`)
        .replace('/etc/ssl/lastseen/fullchain.pem', join(folder, 'cert.pem'))
        .replace('/etc/ssl/lastseen/privkey.pem', join(folder, 'key.pem'))
      const main = `load_module ${streamModule}; daemon off; pid ${folder}/pid; error_log stderr; events {}`
      writeFileSync(join(folder, 'nginx.conf'), `${main}\n${recipe}`)
      proxy = spawn(binary, ['-c', join(folder, 'nginx.conf'), '-p', folder], { stdio: 'ignore' })
    })
    afterAll(async () => {
      proxy.kill()
      await once(proxy, 'exit')
      authority.remove()
    })

    it('passes the messages of readers on, over TLS', async () => {
      const site = await Site.open(context.app, 'Dock')
      const asset = await site.createAsset('Pallet')
      const login = { username: String(site.readerId), password: site.token }
      const options = { ...login, ca: [authority.certificate], reconnectPeriod: 0 }
      const connect = () => mqtt.connectAsync(`mqtts://127.0.0.1:${port}`, options, false)
      await eventually(async () => (await connect()).endAsync())
      const client = await connect()
      expect(await publish(client, 'reads', { tag: asset.tag, antenna: 1 })).toBe('acknowledged')
      await client.endAsync()
    })
  },
)
