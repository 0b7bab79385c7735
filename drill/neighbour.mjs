/** The neighbour, in a process of its own: alternately reads an asset and exchanges a token, and records the latencies. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expose } from '../bench/expose.mjs'
import { percentile } from '../bench/statistics.mjs'
import { exchangeToken, exchangeTokens } from './requests.mjs'

const pauseMs = 25

let latencies
let failures
let stopping
let running

async function readAsset(origin, token, id) {
  const headers = { Authorization: `Bearer ${token}` }
  const response = await fetch(`${origin}/api/v1/assets/${id}`, { headers })
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`a read was answered with ${response.status}`)
}

async function run({ origin, credentials, ids, tokens }) {
  for (let round = 0; !stopping.signal.aborted; round++) {
    const index = round % credentials.length
    const startedAt = performance.now()
    try {
      if (round % 2 === 0) await readAsset(origin, tokens[index], ids[round % ids.length])
      else await exchangeToken(origin, credentials[index])
    } catch {
      failures++
    }
    latencies.push(performance.now() - startedAt)
    await sleep(pauseMs)
  }
}

async function start({ origin, credentials, ids }) {
  latencies = []
  failures = 0
  stopping = new AbortController()
  const tokens = await exchangeTokens(origin, credentials)
  running = run({ origin, credentials, ids, tokens })
}

async function stop() {
  stopping.abort()
  await running
  return { requests: latencies.length, p99Ms: percentile(latencies, 0.99), failures }
}

expose({ start, stop })
