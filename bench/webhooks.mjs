import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openCore } from '../server/dist/app/core.js'
import { webhookNeeds } from '../server/dist/app/webhooks.js'
import { readConfig } from '../server/dist/config/config.js'
import { openPool } from '../server/dist/db/connect.js'
import { createOrganization } from '../server/dist/organizations/commands.js'
import { createWebhook } from '../server/dist/webhooks/commands.js'
import { makeDatabase } from './database.mjs'
import { median, whole } from './figures.mjs'
import { runCommand, startReceiver, startService, startWebhookFloor } from './processes.mjs'

const concurrency = 32
const organizations = 100
const bars = { ratio: 0.6, disturbance: 1.2 }

/** A certificate for 127.0.0.1 that vouches for itself. */
export function makeCertificate(folder) {
  const [key, cert] = ['receiver.key', 'receiver.pem'].map((name) => join(folder, name))
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  return { path: cert, key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
}

/** Moves as ingest records them, due in the webhook's present period. */
const recordMoves = (pool, orgIds, each) => pool`
  with recorded as (
    insert into moves (org_id, delivery_id, asset_id, asset_external_key, asset_name, from_location_id,
      from_location_name, to_location_id, to_location_name, occurred_at, recorded_at)
    select w.org_id, gen_random_uuid(), 8120449930581042, 'EQ-0000001', 'Pallet jack 1000001', 1, 'Place 1', 2,
      'Place 2', clock_timestamp(), clock_timestamp()
    from webhooks w cross join generate_series(1, ${each}) where w.org_id = any(${orgIds}::bigint[])
    returning org_id, recorded_at, delivery_id
  )
  insert into due_moves (org_id, period, recorded_at, delivery_id)
  select w.org_id, w.period, r.recorded_at, r.delivery_id from recorded r join webhooks w on w.org_id = r.org_id`

const tellOfMoves = (pool, orgIds) => pool`select pg_notify('lastseen_wake', ${`bench moved:${orgIds.join(',')}`})`

/** Deliveries per second beside a bare loop, and the delay of 99 organizations while the endpoint of one more hangs. */
async function measureWebhooks(started, postgres, { rounds, events, isolationRounds, seconds, say }) {
  const certificate = makeCertificate(postgres.folder)
  const receiver = await started.add(startReceiver(certificate))
  const floor = await started.add(startWebhookFloor())
  await floor.prepare({ port: receiver.port, ca: certificate.cert, connections: concurrency })
  const url = await makeDatabase(postgres.url, 'bench_webhooks')
  const environment = { LASTSEEN_WEBHOOK_ALLOW: '127.0.0.1', LASTSEEN_WEBHOOK_CA_FILE: certificate.path }
  const orgIds = await makeOrganizations(url, receiver.port)
  const service = await started.add(startService({ url, folder: postgres.folder, name: 'webhooks', environment }))
  const pool = openPool(url, 1)
  try {
    const rates = { service: [], floor: [] }
    for (let round = -1; round < rounds; round++) {
      const bare = await floor.run({ events, concurrency })
      await receiver.reset()
      const first = orgIds.slice(0, 1)
      await recordMoves(pool, first, events)
      // They wait already: what is measured is their delivery, from the news of them to the last of them.
      const startedAt = performance.now()
      await tellOfMoves(pool, first)
      await receiver.expect(events)
      const perSecond = (events / (performance.now() - startedAt)) * 1000
      // The first round is for what is made only once: connections, and compiled code.
      if (round >= 0) {
        rates.floor.push(bare.perSecond)
        rates.service.push(perSecond)
      }
    }
    const ratio = median(rates.service.map((rate, round) => rate / rates.floor[round]))
    say(`webhooks: ${ratio.toFixed(2)}`)
    const isolation = await measureIsolation(pool, receiver, orgIds, { rounds: isolationRounds, seconds })
    say(`webhooks beside one that hangs: ${isolation.ratio.toFixed(2)} times the delay`)
    return {
      perSecond: median(rates.service),
      floorPerSecond: median(rates.floor),
      ratio,
      isolation,
      service: service.pid,
    }
  } finally {
    await pool.end({ timeout: 5 })
  }
}

/** The last of them has an endpoint that never answers. */
async function makeOrganizations(url, port) {
  runCommand(url, ['migrate'])
  const core = await openCore({ config: readConfig({ DATABASE_URL: url }), url })
  try {
    const orgIds = []
    for (let index = 1; index <= organizations; index++) {
      const { orgId } = await createOrganization(core, `Organization ${index}`)
      const path = index === organizations ? 'hang/in' : 'in'
      const draft = { url: `https://127.0.0.1:${port}/${path}`, isEnabled: true }
      await createWebhook(webhookNeeds(core), orgId, draft)
      orgIds.push(orgId)
    }
    return orgIds
  } finally {
    await core.close()
  }
}

async function measureIsolation(pool, receiver, orgIds, { rounds, seconds }) {
  const others = orgIds.slice(0, -1)
  const spread = async (ids) => {
    await receiver.reset()
    for (let tick = 0; tick < seconds * 4; tick++) {
      await recordMoves(pool, ids, 1)
      await tellOfMoves(pool, ids)
      await sleep(250)
    }
    return receiver.expect(seconds * 4 * others.length)
  }
  const results = { quiet: [], disturbed: [] }
  for (let round = 0; round < rounds; round++) {
    results.quiet.push(await spread(others))
    results.disturbed.push(await spread(orgIds))
  }
  const of = (list) => median(list.map((one) => one.medianMs))
  const ratio = median(results.disturbed.map((one, round) => one.medianMs / results.quiet[round].medianMs))
  return { ratio, quietMs: of(results.quiet), disturbedMs: of(results.disturbed) }
}

function webhookMisses({ ratio, isolation }) {
  const missed = []
  if (ratio < bars.ratio) missed.push('webhooks: ratio')
  if (isolation.ratio > bars.disturbance) missed.push('webhooks beside one that hangs: delay')
  return missed
}

function renderWebhooks({ perSecond, floorPerSecond, ratio, isolation }) {
  const mark = (isMet) => (isMet ? '' : ' ✗')
  return [
    '| deliveries | service | floor or undisturbed | ratio | bar |',
    '|---|--:|--:|--:|--:|',
    `| one organization, per second | ${whole(perSecond)} | ${whole(floorPerSecond)} | ` +
      `${ratio.toFixed(2)}${mark(ratio >= bars.ratio)} | ≥ ${bars.ratio} |`,
    `| median delay of 99 organizations while another's endpoint hangs, ms | ${whole(isolation.disturbedMs)} | ` +
      `${whole(isolation.quietMs)} | ${isolation.ratio.toFixed(2)}${mark(isolation.ratio <= bars.disturbance)} | ≤ ${bars.disturbance} |`,
  ].join('\n')
}

export const webhooks = {
  name: 'webhooks',
  title: 'Webhook deliveries',
  pace: {
    full: { minutes: 5, rounds: 21, events: 4_000, isolationRounds: 7, seconds: 3 },
    quick: { minutes: 1.5, rounds: 7, events: 2_000, isolationRounds: 3, seconds: 3 },
  },
  measure: measureWebhooks,
  render: renderWebhooks,
  misses: webhookMisses,
}
