/**
 * Callers as cheap as they can be: requests are made beforehand, several travel together, and answers are read in bulk and
 * only counted.
 */
import { connect } from 'node:net'
import { operations, toHttp } from './operations.mjs'
import { newRandom } from './random.mjs'

const made = 16_384
const start = Buffer.from('HTTP/1.1 ')
const success = '2'.charCodeAt(0)
/** Between two looks at the connections. Far less than an answer takes when all that may be under way is. */
const sleepMs = 8
const asleep = new Int32Array(new SharedArrayBuffer(4))
const room = Buffer.alloc(64 * 1024)

let packets
let next = 0

/** The same requests in the same order in every run, the tokens taking turns. */
function prepare({ sample, tokens, together }) {
  const random = newRandom(7)
  const requests = Array.from({ length: made }, (_, index) =>
    toHttp(operations['point-read'].ask(sample, random), tokens[index % tokens.length]),
  )
  packets = []
  for (let from = 0; from < made; from += together)
    packets.push({ bytes: Buffer.from(requests.slice(from, from + together).join('')), count: together })
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

/** One connection with one packet of requests under way at a time. */
function caller(port, isOver, note) {
  return new Promise((resolve, reject) => {
    let left = 0
    const send = () => {
      if (isOver()) return socket.destroy()
      const { bytes, count } = packets[next++ % packets.length]
      left = count
      socket.write(bytes)
    }
    const take = counter((isGood) => {
      note(isGood)
      if (--left === 0) send()
    })
    const read = (length) => {
      take(room.subarray(0, length))
      return true
    }
    const onread = { buffer: room, callback: read }
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread }, send)
    socket.on('error', reject)
    socket.on('close', resolve)
  })
}

/** Looks at all connections, sleeps, and looks again: awake all the time, it would take the processor for every answer. */
function sleepBetween(isOver) {
  Atomics.wait(asleep, 0, 0, sleepMs)
  if (!isOver()) setTimeout(sleepBetween, 0, isOver)
}

async function run({ port, connections, warmMs, measureMs }) {
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
  await Promise.all(Array.from({ length: connections }, () => caller(port, isOver, note)))
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
