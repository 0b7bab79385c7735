import mqtt, { type MqttClient } from 'mqtt'
import { expect, it } from 'vitest'
import { cutOffOrganization } from '../../src/backup/organization-data.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { readerChangedTopic } from '../../src/readers/commands.ts'
import { freePort } from '../support/free-port.ts'
import { useAppBehindProxy } from '../support/proxied-database.ts'
import { Site, eventually } from '../support/tracking.ts'

const port = await freePort()
const fixture = useAppBehindProxy(systemClock, { LASTSEEN_MQTT_PORT: String(port) })

it('The connections of all readers of a deleted organization are closed within a second, also with a distant database', async () => {
  const { app, proxy } = fixture
  const site = await Site.open(app)
  const clients: MqttClient[] = []
  for (let count = 0; count < 20; count++) {
    const { readerId, token } = await site.createReader()
    const login = { username: String(readerId), password: token, reconnectPeriod: 0 }
    clients.push(await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`, login, false))
  }
  proxy.delayMs = 50
  await cutOffOrganization(app.databaseUrl, site.org.orgId)
  await app.context.pubsub.publishAndWait(readerChangedTopic, '')
  await eventually(async () => expect(clients.filter((client) => client.connected)).toHaveLength(0), 1000)
  proxy.delayMs = 0
})
