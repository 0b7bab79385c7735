import { HealthProbe } from './health-probe.ts'

/** What a server says of itself. */
interface State {
  address: string
  /** It may be written to. */
  isPrimary: boolean
  /** Counts promotions: of two servers that both call themselves primary, the one that was promoted later is right. */
  timeline: number
  /** Why it may not be written to. */
  trouble: string
}

const question = `select pg_is_in_recovery() as "isStandby",
  current_setting('default_transaction_read_only') = 'on' as "isReadOnly",
  case when pg_is_in_recovery() then 0
    else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end as timeline`

interface Answer {
  isStandby: boolean
  isReadOnly: boolean
  timeline: number
}

const lookEveryMs = 1000
/** Once a primary has answered, the others get this long to say that they know better. */
const lastWordMs = 300

/**
 * The servers of one address, one of which is the primary. The driver knows only single servers, and no driver can tell a
 * primary from a former one that came back. So the primary is found here, and a pool is given its address alone.
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
    this.#probes = addresses.length === 1 ? [] : addresses.map((address) => new HealthProbe(address, question))
  }

  /** Whether there is more than one server, one of which is the primary. */
  get hasSeveral(): boolean {
    return this.#probes.length > 0
  }

  /** The address of the server that was the primary when last looked. */
  get current(): string {
    return this.#current
  }

  /** Finds the primary; throws when no server is one. */
  async find(): Promise<void> {
    if (this.#probes.length === 0) return
    const states = await this.#look()
    if (this.#timer === undefined) this.#closeProbes()
    if (this.#best(states) === undefined)
      throw new Error(states.map((state) => `${hostOf(state.address)}: ${state.trouble}`).join('; '))
  }

  /** Calls back whenever another server has become the primary, until the watcher is told to go. */
  watch(onMoved: () => void): () => void {
    if (this.#probes.length === 0) return () => undefined
    this.#watchers.add(onMoved)
    this.#timer ??= setTimeout(() => void this.#lookOn(), lookEveryMs).unref()
    return () => {
      this.#watchers.delete(onMoved)
      if (this.#watchers.size > 0) return
      clearTimeout(this.#timer)
      this.#timer = undefined
      this.#closeProbes()
    }
  }

  async #lookOn(): Promise<void> {
    await this.#look()
    if (this.#watchers.size === 0) return this.#closeProbes()
    this.#timer = setTimeout(() => void this.#lookOn(), lookEveryMs).unref()
  }

  async #look(): Promise<State[]> {
    const states = await this.#askAll()
    const best = this.#best(states)
    if (best === undefined) return states
    this.#timeline = best.timeline
    if (best.address === this.#current) return states
    this.#current = best.address
    for (const tell of this.#watchers) tell()
    return states
  }

  async #askAll(): Promise<State[]> {
    const states: State[] = []
    let hurry = (): void => undefined
    const lastWord = new Promise<void>((resolve) => (hurry = resolve))
    const asked = this.#probes.map(async (probe) => {
      const state = stateOf(probe.address, await probe.ask<Answer>())
      states.push(state)
      if (this.#best([state]) !== undefined) setTimeout(hurry, lastWordMs).unref()
    })
    await Promise.race([Promise.all(asked), lastWord])
    return states
  }

  /** A server that was promoted earlier than one we have known is a former primary: what it is told is lost. */
  #best(states: readonly State[]): State | undefined {
    const primaries = states.filter((state) => state.isPrimary && state.timeline >= this.#timeline)
    const newest = Math.max(...primaries.map((state) => state.timeline))
    const equals = primaries.filter((state) => state.timeline === newest)
    return equals.find((state) => state.address === this.#current) ?? equals[0]
  }

  #closeProbes(): void {
    for (const probe of this.#probes) probe.close()
  }
}

function stateOf(address: string, answer: Answer | string): State {
  if (typeof answer === 'string') return { address, isPrimary: false, timeline: 0, trouble: answer }
  const trouble = answer.isStandby
    ? 'it is a standby'
    : answer.isReadOnly
      ? 'it is read-only'
      : 'it is a former primary'
  return { address, isPrimary: !answer.isStandby && !answer.isReadOnly, timeline: answer.timeline, trouble }
}

const hostOf = (address: string): string => /^[^:]+:\/\/(?:[^@/]*@)?([^/?]*)/.exec(address)?.[1] ?? ''

/** The address of each server. */
function addressesOf(url: string): string[] {
  const [, head = '', hosts = '', tail = ''] = /^([^:]+:\/\/(?:[^/?]*@)?)([^/?]*)(.*)$/.exec(url) ?? []
  if (!hosts.includes(',')) return [url]
  return hosts.split(',').map((host) => `${head}${host}${tail}`)
}

/** One entry for each address a process uses: whoever opens a connection goes where the others are. */
const known = new Map<string, PrimaryDiscovery>()

export function parseHosts(url: string): PrimaryDiscovery {
  const hosts = known.get(url) ?? new PrimaryDiscovery(url)
  known.set(url, hosts)
  return hosts
}
