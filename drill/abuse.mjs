/**
 * Runs each kind of abuse for a few seconds while another organization, the neighbour, reads and exchanges tokens. The
 * neighbour's latency and the server's memory must stay within their bounds.
 */
import { residentMiB, runCommand } from '../bench/environment.mjs'
import { createOrganization } from '../bench/seed.mjs'
import { abuseMs, base, cases, json, origin } from './abuse-cases.mjs'
import { exchangeToken } from './requests.mjs'

const maxP99Ms = 250
const maxMiB = 600

async function signIn(service, organization) {
  const account = ['--email', 'drill@drill.example', '--role', 'admin', '--password', 'a long enough passphrase']
  runCommand(service.databaseUrl, 'user', 'create', '--org', organization, ...account)
  const response = await fetch(`${base(service)}/auth/login`, json({ email: account[1], password: account[5] }))
  return (await response.json()).data.access_token
}

async function runCase(service, neighbour, { name, run }, { neighbourOrganization, abuser }) {
  const stopping = new AbortController()
  const sockets = []
  let peakMiB = 0
  const { credentials, sample } = neighbourOrganization
  // Without the proxy, because the same process generates the abuse.
  const direct = `http://127.0.0.1:${service.serverPort}`
  await neighbour.call('start', { origin: direct, credentials, ids: sample.ids })
  const watch = setInterval(() => (peakMiB = Math.max(peakMiB, residentMiB(service.pid))), 100)
  const timer = setTimeout(() => stopping.abort(), abuseMs)
  try {
    await run({ service, signal: stopping.signal, sockets, ...abuser })
  } finally {
    clearTimeout(timer)
    clearInterval(watch)
    for (const socket of sockets) socket.destroy()
  }
  const { requests, p99Ms, failures } = await neighbour.call('stop')
  const isMet = p99Ms <= maxP99Ms && peakMiB <= maxMiB && failures === 0
  return [name, requests, failures, `${p99Ms.toFixed(0)} ms`, `${peakMiB.toFixed(0)} MiB`, isMet ? 'yes' : '**no**']
}

/** Returns a table: each case with the neighbour's failures and latency, the memory, and whether they are in bounds. */
export async function runAbuse(service, neighbour, { isQuick, caseName, log }) {
  const selected = cases.filter(({ name }) => name.includes(caseName))
  if (selected.length === 0) throw new Error(`No case of abuse is named like "${caseName}".`)
  const url = service.databaseUrl
  const size = isQuick ? 5_000 : 120_000
  const organization = await createOrganization({
    url,
    name: 'Abuser',
    assets: size,
    credentials: 48,
    minutesPerAsset: 3,
  })
  const neighbourOrganization = await createOrganization({ url, name: 'Neighbour', assets: 1_000, credentials: 40 })
  const tokens = await Promise.all(
    organization.credentials.map((credential) => exchangeToken(origin(service), credential)),
  )
  const abuser = {
    tokens,
    orgId: organization.orgId,
    reader: organization.reader,
    session: await signIn(service, 'Abuser'),
  }
  const rows = []
  for (const abuseCase of selected) {
    rows.push(await runCase(service, neighbour, abuseCase, { neighbourOrganization, abuser }))
    log(rows.at(-1).join(', '))
  }
  return { columns: ['abuse', 'neighbour requests', 'failed', 'p99', 'server memory', 'within bounds'], rows }
}
