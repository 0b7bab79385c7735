/**
 * Runs each kind of abuse for a few seconds while another organization, the neighbour, reads and exchanges tokens. The
 * neighbour's latency and the server's memory must stay within their bounds.
 */
import { residentMiB } from '../bench/environment.mjs'
import { createOrganization } from '../bench/seed.mjs'
import { requestCases } from './abuse-cases.mjs'
import { connectionCases } from './connection-cases.mjs'
import { largeCases } from './large-cases.mjs'
import { exchangeTokens, origin, signIn } from './requests.mjs'

const abuseMs = 8_000
const maxP99Ms = 250
const maxMiB = 600

const cases = [...requestCases, ...largeCases, ...connectionCases]

/** Tokens are valid for 15 minutes, which is less than all cases take, so each case gets its own. */
async function signInAbuser(service, { organization, logDisk }) {
  const { orgId, reader, credentials } = organization
  const session = await signIn(service, 'Abuser')
  return { service, logDisk, orgId, reader, session, tokens: await exchangeTokens(origin(service), credentials) }
}

async function runCase(service, neighbour, { name, prepare, run }, { neighbourOrganization, abuser }) {
  const stopping = new AbortController()
  const sockets = []
  let peakMiB = 0
  const { credentials, sample } = neighbourOrganization
  const context = await signInAbuser(service, abuser)
  const prepared = await prepare?.(context)
  // Without the proxy, because the same process generates the abuse.
  const direct = `http://127.0.0.1:${service.serverPort}`
  await neighbour.call('start', { origin: direct, credentials, ids: sample.ids })
  const watch = setInterval(() => (peakMiB = Math.max(peakMiB, residentMiB(service.pid))), 100)
  const timer = setTimeout(() => stopping.abort(), abuseMs)
  let error
  try {
    await run({ ...context, ...prepared, signal: stopping.signal, sockets })
  } catch (thrown) {
    error = thrown
  } finally {
    clearTimeout(timer)
    clearInterval(watch)
    stopping.abort()
    for (const socket of sockets) socket.destroy()
  }
  const { requests, p99Ms, failures } = await neighbour.call('stop')
  const isMet = error === undefined && p99Ms <= maxP99Ms && peakMiB <= maxMiB && failures === 0
  const result = isMet ? 'yes' : ['**no**', error?.message].filter(Boolean).join(': ')
  return [name, requests, failures, `${p99Ms.toFixed(0)} ms`, `${peakMiB.toFixed(0)} MiB`, result]
}

/** Returns a table: each case with the neighbour's failures and latency, the memory, and whether they are in bounds. */
export async function runAbuse(service, neighbour, { isQuick, caseName, logDisk, log }) {
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
  const abuser = { organization, logDisk }
  const rows = []
  for (const abuseCase of selected) {
    const obstacle = abuseCase.obstacle?.({ logDisk })
    const withoutRun = (result) => [abuseCase.name, 0, '', '', '', result]
    rows.push(
      obstacle === undefined
        ? await runCase(service, neighbour, abuseCase, { neighbourOrganization, abuser }).catch((error) =>
            withoutRun(`**no**: ${error.message.split('\n')[0]}`),
          )
        : withoutRun(`skipped: ${obstacle}`),
    )
    log(rows.at(-1).join(', '))
  }
  return { columns: ['abuse', 'neighbour requests', 'failed', 'p99', 'server memory', 'within bounds'], rows }
}
