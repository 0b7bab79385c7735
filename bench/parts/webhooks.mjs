/** Measures webhook deliveries per second to one endpoint, and a bare undici sender. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand, startHelper, withClient } from '../environment.mjs'
import { compare } from '../statistics.mjs'
import { tagOf } from '../seed.mjs'
import { startTarget } from '../targets.mjs'

const connections = 32
const min = 0.6

/** A self-signed certificate for 127.0.0.1. */
function createCertificate(folder) {
  const [key, cert] = ['receiver.key', 'receiver.pem'].map((name) => join(folder, name))
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  return { path: cert, key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
}

/** Inserts moves with one pending delivery each, as ingest does, but without notifying the server. */
const insertMoves = `
  with recorded as (
    insert into moves (org_id, delivery_id, asset_id, asset_external_key, asset_name, from_location_id,
      from_location_name, to_location_id, to_location_name, occurred_at, recorded_at)
    select $1, gen_random_uuid(), 8120449930581042, 'EQ-0000001', 'Pallet jack 1000001', 1, 'Location 1', 2,
      'Location 2', clock_timestamp(), clock_timestamp() from generate_series(1, $2::int)
    returning recorded_at, delivery_id)
  insert into webhook_outbox (org_id, generation, recorded_at, delivery_id)
  select $1, w.generation, r.recorded_at, r.delivery_id from recorded r join webhooks w on w.org_id = $1`

/** Reports a move through the reader, which makes the server look for pending deliveries. */
async function reportMove(port, { reader, antennaCount }, round) {
  const observed_at = new Date(Date.now() - (1_000 - round) * 60_000).toISOString()
  const response = await fetch(`http://127.0.0.1:${port}/ingest/v1/reads`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${reader.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ reads: [{ tag: tagOf(1), antenna: 1 + (round % antennaCount), observed_at }] }),
  })
  if (response.status !== 202) throw new Error(`a read was answered with ${response.status}`)
}

export const webhooks = {
  name: 'webhooks',
  title: 'Webhook deliveries',
  isDefault: true,
  async measure(context) {
    const { scope, postgres, isQuick } = context
    const events = isQuick ? 1_000 : 4_000
    const { path, key, cert } = createCertificate(postgres.folder)
    const receiver = await scope.use(startHelper('./receiver.mjs'))
    const { port } = await receiver.call('start', { key, cert })
    const baseline = await scope.use(startHelper('./webhook-baseline.mjs'))
    await baseline.call('start', { port, ca: cert, connections })
    const settings = { LASTSEEN_WEBHOOK_ALLOW: '127.0.0.1', LASTSEEN_WEBHOOK_CA_FILE: path }
    const { url, organization, server } = await startTarget(context, 'webhooks', { assets: 1_000, settings })
    runCommand(url, 'webhook', 'create', '--org', 'Benchmark', '--url', `https://127.0.0.1:${port}/`)
    let round = 0
    const deliver = (start) => async () => {
      await receiver.call('expectDeliveries', events)
      await start()
      return receiver.call('rate')
    }
    const measured = await compare('webhooks', isQuick ? 3 : 15, {
      server: deliver(async () => {
        await withClient(url, (client) => client.query(insertMoves, [organization.orgId, events - 1]))
        await reportMove(server.port, organization, round++)
      }),
      baseline: deliver(() => baseline.call('send', { events, concurrency: connections })),
    })
    const { perSecond, ratio } = measured.server
    return {
      columns: ['deliveries', 'server per second', 'baseline per second', 'ratio'],
      rows: [['one organization', perSecond, measured.baseline.perSecond, { value: ratio, min }]],
    }
  },
}
