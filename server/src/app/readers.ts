import { formatMillis } from '../kernel/instant.ts'
import { createReader } from '../readers/commands.ts'
import { type Smoothing, readerFormats, smoothingBounds } from '../readers/reader.ts'
import { liveLocations } from '../readers/readers.sql.ts'
import { listUnknownTopics } from '../readers/unknown.sql.ts'
import { readerClocks } from '../tracking/arrival.ts'
import { type Facts, OperatorError, checkLine, organizationNamed } from './admin.ts'
import type { Core } from './core.ts'
import { ingestAddresses } from './tracking.ts'

export interface ReaderOptions {
  org: string
  name: string
  antenna: string[]
  format: string
  clock: string
  smoothing?: string
}

/** `1=DOCK-3` is antenna 1 at the location with that key; `2=` is antenna 2 at no place in particular. */
function parseAntenna(text: string): { antenna: number; key: string | null } {
  const match = /^([1-9]\d{0,4})=(.*)$/s.exec(text)
  if (match === null || Number(match[1]) > 65_535)
    throw new OperatorError(`--antenna takes NUMBER=LOCATION-KEY or NUMBER=, not ${JSON.stringify(text)}`)
  return { antenna: Number(match[1]), key: match[2] === '' ? null : match[2]! }
}

const smoothingKeys = { reads: 'reads', seconds: 'seconds', margin_db: 'marginDb' } as const

/** `reads=3,seconds=30,margin_db=6`; the last may be left out. */
function parseSmoothing(text: string): Smoothing {
  const problem = new OperatorError(
    `--smoothing takes reads=N,seconds=N[,margin_db=N] with reads 2 to 20, seconds 1 to 3600 and margin_db 1 to 60, not ${JSON.stringify(text)}`,
  )
  const found: Partial<Smoothing> = {}
  for (const part of text.split(',')) {
    const [, name, digits] = /^(reads|seconds|margin_db)=(\d{1,4})$/.exec(part) ?? []
    if (name === undefined) throw problem
    const key = smoothingKeys[name as keyof typeof smoothingKeys]
    const [min, max] = smoothingBounds[key]
    if (found[key] !== undefined || Number(digits) < min || Number(digits) > max) throw problem
    found[key] = Number(digits)
  }
  const { reads, seconds, marginDb = null } = found
  if (reads === undefined || seconds === undefined) throw problem
  return { reads, seconds, marginDb }
}

const known = (what: string, values: readonly string[], given: string): string => {
  if (!values.includes(given)) throw new OperatorError(`The ${what} must be one of ${values.join(', ')}`)
  return given
}

export async function createReaderIn(core: Core, options: ReaderOptions): Promise<Facts> {
  const { orgId } = await organizationNamed(core, options.org)
  const antennas = options.antenna.map(parseAntenna)
  if (new Set(antennas.map((one) => one.antenna)).size < antennas.length)
    throw new OperatorError('An antenna was given twice')
  const keys = antennas.flatMap((one) => one.key ?? [])
  const places = await liveLocations(core.db.read, orgId, { keys })
  const missing = keys.find((key) => !places.has(key))
  if (missing !== undefined) throw new OperatorError(`There is no location with the key ${JSON.stringify(missing)}`)
  const made = await createReader(core, orgId, {
    name: checkLine('The name', options.name),
    format: known('format', readerFormats, options.format),
    clock: known('clock', readerClocks, options.clock),
    smoothing: options.smoothing === undefined ? null : parseSmoothing(options.smoothing),
    scanPoints: antennas.map(({ antenna, key }) => ({ antenna, locationId: key === null ? null : places.get(key)! })),
  })
  const { reader, token } = made
  const { ingest_url, mqtt } = ingestAddresses(core, reader)
  return {
    reader_id: reader.id,
    token,
    ingest_url,
    mqtt: { ...mqtt, password: token },
    name: reader.name,
    org_id: orgId,
    format: reader.format,
    clock: reader.clock,
    smoothing: reader.smoothing && {
      reads: reader.smoothing.reads,
      seconds: reader.smoothing.seconds,
      margin_db: reader.smoothing.marginDb,
    },
    antennas: reader.scanPoints.map((point) => ({ antenna: point.antenna, location: point.locationKey })),
  }
}

/** Topics of the outside broker under which messages came although they lead to no reader, latest first. */
export async function showInbox(core: Core): Promise<Facts[]> {
  const topics = await listUnknownTopics(core.db.read)
  return topics.map((one) => ({
    topic: one.topic,
    messages: one.messages,
    first_seen_at: formatMillis(one.firstSeenAt),
    last_seen_at: formatMillis(one.lastSeenAt),
  }))
}
