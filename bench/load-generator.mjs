/** The load generator, which runs in its own process: closed loop (a number of requests in flight) or open loop (a rate). */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import mqtt from 'mqtt'
import { openConnection } from './connection.mjs'
import { expose } from './expose.mjs'
import { median, percentile } from './statistics.mjs'
import { parseRequest } from './parse/requests.mjs'
import { createReadSource, toMessage } from './reads.mjs'
import { authorization, operations, toHttp } from './requests.mjs'

const readsPerMessage = 200
const mqttConnections = 8

/** Organizations by name: the server's port, the headers of each credential, a sample of the assets, the reader. */
const targets = new Map()
const sources = new Map()
const connections = new Map()

/**
 * Every sender has its own credentials, as clients do, and uses the next credential for each request, so that no request
 * is rate-limited.
 */
function nextRequest(target, names, sender, senders) {
  const count = (target.counts[sender] = (target.counts[sender] ?? -1) + 1)
  const request = operations[names[count % names.length]](target.sample)
  const perSender = Math.max(1, Math.floor(target.headers.length / senders))
  const headers = target.headers[(sender + (count % perSender) * senders) % target.headers.length]
  return target.protocol === 'parse' ? toHttp(...parseRequest(request, headers)) : toHttp(request, headers)
}

const isSuccess = (status) => status >= 200 && status < 300
const count = (counts, key) => (counts[key] = (counts[key] ?? 0) + 1)

function summarize(latencies) {
  return { p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99) }
}

/** Connections are kept between measurements, as clients keep theirs. Those that the server has closed are replaced. */
async function connectionsOf(key, count, isOpen, open) {
  const kept = (connections.get(key) ?? []).filter(isOpen)
  while (kept.length < count) kept.push(await open())
  connections.set(key, kept)
  return kept.slice(0, count)
}

function httpConnections(name, { port }, count) {
  const open = () => openConnection(port)
  return connectionsOf(name, count, (connection) => connection.isOpen(), open)
}

function nextMessage(name, shape) {
  const key = `${name} ${shape}`
  if (!sources.has(key)) sources.set(key, createReadSource({ ...targets.get(name), shape }))
  return toMessage(sources.get(key)(readsPerMessage))
}

/** Returns functions that each send one request or message and resolve to its status. */
async function sendersOf({ target: name, kind, operations: names, shape, inFlight }) {
  const target = targets.get(name)
  if (kind === 'mqtt') {
    const { username, password, topic } = target.reader.mqtt
    const open = () => mqtt.connectAsync(`mqtt://127.0.0.1:${target.mqttPort}`, { username, password })
    const clients = await connectionsOf(`${name} mqtt`, mqttConnections, (client) => client.connected, open)
    const publish = (client) => client.publishAsync(topic, nextMessage(name, shape), { qos: 1 })
    return Array.from({ length: inFlight }, (_, sender) => async () => {
      await publish(clients[sender % mqttConnections])
      return 202
    })
  }
  const opened = await httpConnections(`${name} ${kind}`, target, inFlight)
  if (kind === 'api')
    return opened.map((connection, sender) => () => connection.send(nextRequest(target, names, sender, inFlight)))
  const headers = authorization(target.reader.token)
  const message = () =>
    toHttp({ method: 'POST', path: '/reads', body: nextMessage(name, shape) }, headers, '/ingest/v1')
  return opened.map((connection) => () => connection.send(message()))
}

/** Each sender sends its next request after the response to the previous one. Ingest is counted in reads. */
async function runLoad(load, { startsAt, endsAt }) {
  const senders = await sendersOf(load)
  const latencies = []
  const failures = {}
  const run = async (send) => {
    for (let sentAt = performance.now(); sentAt < endsAt;) {
      const status = await send()
      const answeredAt = performance.now()
      if (!isSuccess(status)) count(failures, status)
      else if (answeredAt >= startsAt && answeredAt <= endsAt) latencies.push(answeredAt - sentAt)
      sentAt = answeredAt
    }
  }
  await Promise.all(senders.map(run))
  const perSecond = (latencies.length * 1000 * (load.kind === 'api' ? 1 : readsPerMessage)) / (endsAt - startsAt)
  return { kind: load.kind, perSecond, ...summarize(latencies), failures }
}

/** Closed loop: runs the loads concurrently and measures how many CPU cores this process used. */
async function runClosedLoop({ loads, warmUpMs, measureMs }) {
  const startsAt = performance.now() + warmUpMs
  const endsAt = startsAt + measureMs
  const cpuBefore = process.cpuUsage()
  const results = await Promise.all(loads.map((load) => runLoad(load, { startsAt, endsAt })))
  const cpu = process.cpuUsage(cpuBefore)
  return { results, cpuCores: (cpu.user + cpu.system) / 1000 / (warmUpMs + measureMs) }
}

/** Requests that this process could not send for so long after they were due are not sent at all. */
const maxLateMs = 50

/**
 * Open loop: sends requests at a fixed rate, independent of response times. A latency starts at the time at which the
 * request was due. A request is not sent, and counts as a failure, when all connections are in use, or when this process
 * lacks the CPU time to send it: `offeredPerSecond` is the rate that was really sent.
 */
async function runOpenLoop({ target: name, operations: names, timeoutMs = 10_000, windowMs = 500, ...pace }) {
  const { perSecond, maxInFlight, warmUpMs, measureMs } = pace
  const target = targets.get(name)
  const idle = await httpConnections(`${name} rate`, target, maxInFlight)
  const latencies = []
  const windows = []
  const failures = {}
  const pending = []
  let sent = 0
  const startedAt = performance.now()
  const send = async (atMs, index) => {
    const isMeasured = atMs >= warmUpMs
    if (performance.now() - startedAt - atMs > maxLateMs) return isMeasured && count(failures, 'generator late')
    // Connections are used round-robin, because the server closes idle connections.
    const next = idle.shift()
    if (next === undefined) return isMeasured && count(failures, 'no connection')
    if (isMeasured) sent++
    const connection = next.isOpen() ? next : await openConnection(target.port)
    const status = await connection
      .send(nextRequest(target, names, index % maxInFlight, maxInFlight))
      .catch(() => 'disconnected')
    idle.push(status === 'disconnected' ? await openConnection(target.port) : connection)
    if (!isMeasured) return
    const latency = performance.now() - startedAt - atMs
    if (!isSuccess(status)) return count(failures, status)
    if (latency > timeoutMs) return count(failures, 'timeout')
    latencies.push(latency)
    ;(windows[Math.floor((atMs - warmUpMs) / windowMs)] ??= []).push(latency)
  }
  for (let index = 0; ; index++) {
    const atMs = (index * 1000) / perSecond
    if (atMs >= warmUpMs + measureMs) break
    const earlyMs = atMs - (performance.now() - startedAt)
    // A generator that is behind its schedule still has to read the responses.
    await (earlyMs > 0 ? sleep(Math.ceil(earlyMs)) : setImmediate())
    pending.push(send(atMs, index))
  }
  await Promise.all(pending)
  const windowMediansMs = Array.from(windows, (window) => (window === undefined ? null : median(window)))
  const perSecondOf = (requests) => (requests * 1000) / measureMs
  const rates = { perSecond: perSecondOf(latencies.length), offeredPerSecond: perSecondOf(sent) }
  return { ...rates, ...summarize(latencies), failures, windowMediansMs }
}

function addTarget({ name, ...target }) {
  targets.set(name, { counts: [], ...targets.get(name), ...target })
}

expose({ addTarget, runClosedLoop, runOpenLoop })
