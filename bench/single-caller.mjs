/** Measures single requests, one after the other, as one caller sends them. */
import { runCommand, withClient } from './environment.mjs'
import { tokenMaxAgeMs } from './requests.mjs'
import { median } from './statistics.mjs'

const email = 'bench@example.com'
/** A session may send 120 requests at once. */
const sessionCount = 20

async function send(port, { method = 'GET', path, token, body }) {
  const headers = body === undefined ? {} : { 'Content-Type': 'application/json' }
  if (token !== undefined) headers.Authorization = `Bearer ${token}`
  const init = { method, headers, body: body && JSON.stringify(body) }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
  if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`)
  return response
}

async function signIn(port, password) {
  const response = await send(port, { method: 'POST', path: '/api/v1/auth/login', body: { email, password } })
  return (await response.json()).data.access_token
}

/** Creates what the web app lists beside assets and locations: a webhook with attempts, an import and a bulk job. */
async function addOtherRecords({ url, port, organization, session, token }) {
  const create = async (path, body, as = session) =>
    (await (await send(port, { method: 'POST', path: `/api/v1${path}`, token: as, body })).json()).data.id
  const webhookId = await create('/webhooks', { url: 'https://example.com/hook', enabled: false })
  const importId = await create('/imports', { kind: 'assets' })
  const jobId = await create('/bulk/assets?dry_run=true', [{ external_key: 'NEW-1', name: 'New' }], token)
  const { rows } = await withClient(url, async (client) => {
    await client.query(
      `insert into webhook_attempts (org_id, attempted_at, delivery_id, attempt, webhook_id, event, status, duration_ms)
      select $1, now() - n * interval '1 second', gen_random_uuid(), 1, $2, 'asset.moved', 200, 40
      from generate_series(1, 100000) n`,
      [organization.orgId, webhookId],
    )
    return client.query('select id from readers where org_id = $1', [organization.orgId])
  })
  return { webhookId, importId, jobId, readerId: rows[0].id, orgId: organization.orgId }
}

/** Prepares an organization for single requests. Returns a function that measures a request once, in milliseconds. */
export async function startCaller({ url, port, organization, tokens }) {
  const { password } = runCommand(url, 'user', 'create', '--org', 'Benchmark', '--email', email, '--role', 'admin')
  // A quota of query time would reject slow requests instead of measuring them.
  runCommand(url, 'org', 'quota', 'Benchmark', '--set', 'query_seconds=1000000')
  let sessions = []
  let signedInAt = -Infinity
  const signInAgain = async () => {
    if (performance.now() - signedInAt < tokenMaxAgeMs) return
    signedInAt = performance.now()
    sessions = []
    for (let n = 0; n < sessionCount; n++) sessions.push(await signIn(port, password))
  }
  await signInAgain()
  const otherRecords = await addOtherRecords({ url, port, organization, session: sessions[0], token: tokens()[0] })
  const sample = { ...organization.sample, ...otherRecords }
  let count = 0
  return async function measureOnce({ path, base, isSession, until }) {
    await signInAgain()
    const all = isSession ? sessions : tokens()
    const token = all[count++ % all.length]
    const startedAt = performance.now()
    const response = await send(port, { path: `${base}${path(sample)}`, token })
    if (until === 'end') await response.arrayBuffer()
    const reader = until === 'end' ? null : response.body.getReader()
    if (until === 'first bytes') await reader.read()
    const elapsedMs = performance.now() - startedAt
    await reader?.cancel()
    return elapsedMs
  }
}

/** The median time of a request; of a slow request fewer are sent. The status when the server answered with an error. */
export async function medianMs(measureOnce, request, { rounds, budgetMs }) {
  const times = []
  const startedAt = performance.now()
  try {
    await measureOnce(request)
    while (times.length < rounds && (times.length === 0 || performance.now() - startedAt < budgetMs))
      times.push(await measureOnce(request))
  } catch (error) {
    const [, status] = / returned (\d+)/.exec(error.message) ?? []
    if (status === undefined) throw error
    return `status ${status}`
  }
  return median(times)
}
