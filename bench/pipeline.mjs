/**
 * Callers as cheap as they can be: requests are made beforehand, several travel together, and answers are read in bulk and
 * only counted.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { operations, toHttp } from './operations.mjs'
import { newRandom } from './random.mjs'

const start = Buffer.from('HTTP/1.1 ')
const success = '2'.charCodeAt(0)
/** Between two looks at the connections. Far less than an answer takes when all that may be under way is. */
const sleepMs = 4
const asleep = new Int32Array(new SharedArrayBuffer(4))
const room = Buffer.alloc(64 * 1024)

/** One for each connection, and its packets of so many requests, which it sends in turns. */
let callers
let packets
let together

/** The same requests in every run. A caller keeps its connection: each has tokens of its own, which take turns. */
function prepare({ sample, tokens, connections, requestsTogether }) {
  const random = newRandom(7)
  const ask = (token) => toHttp(operations['point-read'].ask(sample, random), token)
  together = requestsTogether
  packets = Array.from({ length: connections }, (_, connection) => {
    const own = tokens.filter((_, index) => index % connections === connection)
    const requests = Array.from({ length: own.length * together }, (_, index) => ask(own[index % own.length]))
    return own.map((_, index) => Buffer.from(requests.slice(index * together, (index + 1) * together).join('')))
  })
}

/** Counts the answers that begin in what has come; one that begins in the seam between two chunks counts too. */
function counter(onAnswer) {
  let tail = ''
  return (chunk) => {
    const seam = tail + chunk.toString('latin1', 0, Math.min(chunk.length, start.length))
    const across = seam.indexOf('HTTP/1.1 ')
    if (tail !== '' && across !== -1 && across + start.length < seam.length)
      onAnswer(seam.charCodeAt(across + start.length) === success)
    for (let at = chunk.indexOf(start); at !== -1 && at + start.length < chunk.length;) {
      onAnswer(chunk[at + start.length] === success)
      at = chunk.indexOf(start, at + start.length)
    }
    tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - start.length))).slice(-start.length)
  }
}

/** One connection, kept from run to run, with one packet of requests under way at a time. */
async function openCaller(port, own) {
  let left = 0
  let next = 0
  let run
  const send = () => {
    if (run.isOver()) return run.end()
    left = together
    socket.write(own[next++ % own.length])
  }
  const take = counter((isGood) => {
    run.note(isGood)
    if (--left === 0) send()
  })
  const read = (length) => {
    take(room.subarray(0, length))
    return true
  }
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer: room, callback: read } })
  await once(socket, 'connect')
  const closed = once(socket, 'close').then(() => Promise.reject(new Error('a connection was closed')))
  closed.catch(() => undefined)
  return (isOver, note) => {
    const over = new Promise((end) => (run = { isOver, note, end }))
    send()
    return Promise.race([over, closed])
  }
}

/** Looks at all connections, sleeps, and looks again: awake all the time, it would take the processor for every answer. */
function sleepBetween(isOver) {
  Atomics.wait(asleep, 0, 0, sleepMs)
  if (!isOver()) setTimeout(sleepBetween, 0, isOver)
}

async function run({ port, warmMs, measureMs }) {
  callers ??= await Promise.all(packets.map((own) => openCaller(port, own)))
  const from = performance.now() + warmMs
  const until = from + measureMs
  let now = performance.now()
  let answered = 0
  let counted = 0
  let failed = 0
  const note = (isGood) => {
    answered++
    if (!isGood) failed++
    else if (now >= from && now <= until) counted++
  }
  const isOver = () => (now = performance.now()) > until
  sleepBetween(isOver)
  await Promise.all(callers.map((call) => call(isOver, note)))
  return { perSecond: (counted / measureMs) * 1000, answered, failed }
}

process.on('message', async ({ prepare: given, run: wanted }) => {
  try {
    if (given !== undefined) prepare(given)
    process.send({ result: wanted === undefined ? null : await run(wanted) })
  } catch (error) {
    process.send({ error: error.message })
  }
})
process.on('disconnect', () => process.exit())
