/** The floor of ingest: the pipeline's own statements driven straight from a script, no message to decode, one batch after the other. */
import { connect } from '../server/dist/db/connect.js'
import { systemClock } from '../server/dist/kernel/clock.js'
import { instantFromMillis } from '../server/dist/kernel/instant.js'
import { recordReads } from '../server/dist/pipeline/record-reads.js'
import { ReadStream } from './reads.mjs'

const batchReads = 1_000
let site
let db
const streams = new Map()

function batch(shape) {
  if (!streams.has(shape)) streams.set(shape, new ReadStream({ ...site, shape }))
  return streams
    .get(shape)
    .take(batchReads)
    .map(({ tag, antenna, observedAt }) => ({
      identities: [{ type: 'rfid', value: tag }],
      readerId: site.readerId,
      antenna,
      observedAt: instantFromMillis(Date.parse(observedAt)),
    }))
}

/** The next batch is made while the last one is being written, so that the database never waits for the script. */
async function run({ shape, warmMs, measureMs }) {
  const warmUntil = performance.now() + warmMs
  let reads = 0
  let moves = 0
  let from = null
  let given = batch(shape)
  for (;;) {
    const startedAt = performance.now()
    if (from === null && startedAt >= warmUntil) from = startedAt
    if (from !== null && startedAt - from >= measureMs) return { perSecond: (reads / (startedAt - from)) * 1000, moves }
    const writing = recordReads({ db, clock: systemClock }, site.orgId, given)
    given = batch(shape)
    const recorded = await writing
    if (recorded.isKnown.includes(false)) throw new Error('a read was not known')
    if (from === null) continue
    reads += batchReads
    moves += recorded.moves
  }
}

process.on('message', async ({ prepare, run: wanted }) => {
  try {
    if (prepare !== undefined) {
      site = prepare
      db = connect({ url: prepare.url, poolSize: 1 })
    }
    process.send({ result: wanted === undefined ? null : await run(wanted) })
  } catch (error) {
    process.send({ error: error.message })
  }
})
process.on('disconnect', () => process.exit())
