import { HealthProbe } from './health-probe.ts'

/** The state that a server reports. */
interface ServerState {
  address: string
  isPrimary: boolean
  /** Counts promotions: if two servers claim to be the primary, the one with the higher timeline is. */
  timeline: number
  /** Why the server cannot be used as the primary. */
  reason: string
}

const probeQuery = `select pg_is_in_recovery() as "isStandby",
  current_setting('default_transaction_read_only') = 'on' as "isReadOnly",
  case when pg_is_in_recovery() then 0
    else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end as timeline`

interface ProbeRow {
  isStandby: boolean
  isReadOnly: boolean
  timeline: number
}

const probeIntervalMs = 1000
/** After the first primary has answered, the remaining servers have this long to report a newer timeline. */
const graceMs = 300

/**
 * Finds the primary among the servers of one URL. The driver connects to a single server and cannot distinguish the
 * primary from a former primary that came back, so the pools receive only the address of the primary found here.
 */
export class PrimaryDiscovery {
  readonly #probes: HealthProbe[]
  readonly #watchers = new Set<() => void>()
  #current: string
  #timeline = 0
  #timer: NodeJS.Timeout | undefined

  constructor(url: string) {
    const addresses = addressesOf(url)
    this.#current = addresses[0]!
    this.#probes = addresses.length === 1 ? [] : addresses.map((address) => new HealthProbe(address, probeQuery))
  }

  /** Whether the URL names more than one server. */
  get hasSeveral(): boolean {
    return this.#probes.length > 0
  }

  /** The address of the server that was the primary at the last check. */
  get current(): string {
    return this.#current
  }

  /** Finds the primary; throws when no server is one. */
  async find(): Promise<void> {
    if (this.#probes.length === 0) return
    const states = await this.#update()
    if (this.#timer === undefined) this.#closeProbes()
    if (this.#best(states) === undefined)
      throw new Error(states.map((state) => `${hostOf(state.address)}: ${state.reason}`).join('; '))
  }

  /** Calls back when another server has become the primary. Returns a function that stops watching. */
  watch(onChange: () => void): () => void {
    if (this.#probes.length === 0) return () => undefined
    this.#watchers.add(onChange)
    this.#timer ??= setTimeout(() => void this.#poll(), probeIntervalMs).unref()
    return () => {
      this.#watchers.delete(onChange)
      if (this.#watchers.size > 0) return
      clearTimeout(this.#timer)
      this.#timer = undefined
      this.#closeProbes()
    }
  }

  async #poll(): Promise<void> {
    await this.#update()
    if (this.#watchers.size === 0) return this.#closeProbes()
    this.#timer = setTimeout(() => void this.#poll(), probeIntervalMs).unref()
  }

  async #update(): Promise<ServerState[]> {
    const states = await this.#probeAll()
    const best = this.#best(states)
    if (best === undefined) return states
    this.#timeline = best.timeline
    if (best.address === this.#current) return states
    this.#current = best.address
    for (const onChange of this.#watchers) onChange()
    return states
  }

  async #probeAll(): Promise<ServerState[]> {
    const states: ServerState[] = []
    let stopWaiting = (): void => undefined
    const graceEnded = new Promise<void>((resolve) => (stopWaiting = resolve))
    const checks = this.#probes.map(async (probe) => {
      const state = stateOf(probe.address, await probe.check<ProbeRow>())
      states.push(state)
      if (this.#best([state]) !== undefined) setTimeout(stopWaiting, graceMs).unref()
    })
    await Promise.race([Promise.all(checks), graceEnded])
    return states
  }

  /** A server with an older timeline than the last known primary is a former primary: writes to it would be lost. */
  #best(states: readonly ServerState[]): ServerState | undefined {
    const primaries = states.filter((state) => state.isPrimary && state.timeline >= this.#timeline)
    const newest = Math.max(...primaries.map((state) => state.timeline))
    const candidates = primaries.filter((state) => state.timeline === newest)
    return candidates.find((state) => state.address === this.#current) ?? candidates[0]
  }

  #closeProbes(): void {
    for (const probe of this.#probes) probe.close()
  }
}

function stateOf(address: string, answer: ProbeRow | string): ServerState {
  if (typeof answer === 'string') return { address, isPrimary: false, timeline: 0, reason: answer }
  const reason = answer.isStandby ? 'it is a standby' : answer.isReadOnly ? 'it is read-only' : 'it is a former primary'
  return { address, isPrimary: !answer.isStandby && !answer.isReadOnly, timeline: answer.timeline, reason }
}

const hostOf = (address: string): string => /^[^:]+:\/\/(?:[^@/]*@)?([^/?]*)/.exec(address)?.[1] ?? ''

/** One URL per server. */
function addressesOf(url: string): string[] {
  const [, head = '', hosts = '', tail = ''] = /^([^:]+:\/\/(?:[^/?]*@)?)([^/?]*)(.*)$/.exec(url) ?? []
  if (!hosts.includes(',')) return [url]
  return hosts.split(',').map((host) => `${head}${host}${tail}`)
}

/** One instance per URL, so that all connections of the process use the same primary. */
const instances = new Map<string, PrimaryDiscovery>()

export function parseHosts(url: string): PrimaryDiscovery {
  const discovery = instances.get(url) ?? new PrimaryDiscovery(url)
  instances.set(url, discovery)
  return discovery
}
