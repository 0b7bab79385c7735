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
async function startCallers(started, starting, site) {
  const runner = yieldToOthers(await started.add(starting()))
  await runner.prepare(site)
  return runner
}

/** What it can do for a given time; each resolves to how much of it the service took per second. */
export async function startFloods(started, { port, site, tokens }) {
  const caller = (name, tokens) => startCallers(started, startLoad, { name, sample: site.sample, tokens })
  const [few, many] = [await caller('few', tokens.slice(0, fewTokens)), await caller('many', tokens.slice(fewTokens))]
  const readers = {
    http: await startCallers(started, startReaders, site),
    mqtt: await startCallers(started, startReaders, site),
    moving: await startCallers(started, startReaders, site),
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
  return {
    api: [call(few, 'few', 'point-read'), call(many, 'many', everything)],
    ingest: ['http', 'mqtt'].map((way) => read(readers[way], { way, shape: 'worst' })),
    webhooks: [read(readers.moving, { way: 'http', shape: 'moving', readsPerSecond: movesPerSecond })],
  }
}
