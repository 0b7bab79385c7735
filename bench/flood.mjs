/** One organization that takes all it can get: of the API, of ingest, of webhooks. */
import { openCore } from '../server/dist/app/core.js'
import { webhookNeeds } from '../server/dist/app/webhooks.js'
import { readConfig } from '../server/dist/config/config.js'
import { createWebhook } from '../server/dist/webhooks/commands.js'
import { startLoad, startReaders, yieldToOthers } from './processes.mjs'

const everything = ['point-read', 'list', 'create', 'report', 'search']
const fewTokens = 10
const connections = { few: 16, many: 64 }
const movesPerSecond = 2_000

/** Its events go to an address that takes a second for each. */
export async function subscribe(url, orgId, receiver) {
  const core = await openCore({ config: readConfig({ DATABASE_URL: url }), url })
  try {
    const draft = { url: `https://127.0.0.1:${receiver.port}/slow/in`, isEnabled: true }
    await createWebhook(webhookNeeds(core), orgId, draft)
  } finally {
    await core.close()
  }
}

/** Its callers get only the processor time that nobody else wants: they stand for machines elsewhere. */
const startCallers = async (started, starting) => yieldToOthers(await started.add(starting()))

async function startFloodReaders(started, site) {
  const runner = await startCallers(started, startReaders)
  await runner.prepare(site)
  return runner
}

/** What it can do for a given time; each resolves to how much of it the service took per second. */
export async function startFloods(started, { port, site }) {
  const [few, many] = [await startCallers(started, startLoad), await startCallers(started, startLoad)]
  const readers = {
    http: await startFloodReaders(started, site),
    mqtt: await startFloodReaders(started, site),
    moving: await startFloodReaders(started, site),
  }
  const call = (runner, dataset, operation) => async (pace) => {
    const { perSecond, failures } = await runner.run({
      ...{ port, dataset, operation, connections: connections[dataset], warmMs: 0 },
      ...pace,
    })
    return { took: perSecond, refused: ((failures[429] ?? 0) / pace.measureMs) * 1000 }
  }
  const read = (runner, load) => async (pace) => {
    const { perSecond } = await runner.run({ ...load, warmMs: 0, ...pace })
    return { took: perSecond, refused: 0 }
  }
  async function signIn(tokens) {
    await few.prepare({ name: 'few', sample: site.sample, tokens: tokens.slice(0, fewTokens) })
    await many.prepare({ name: 'many', sample: site.sample, tokens: tokens.slice(fewTokens) })
  }
  const floods = {
    api: [call(few, 'few', 'point-read'), call(many, 'many', everything)],
    ingest: ['http', 'mqtt'].map((way) => read(readers[way], { way, shape: 'worst' })),
    webhooks: [read(readers.moving, { way: 'http', shape: 'moving', readsPerSecond: movesPerSecond })],
  }
  return { floods, signIn }
}
