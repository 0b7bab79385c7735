import { type Command, Option } from 'commander'
import type { AppContext } from '../app/context.ts'
import { type Facts, OperatorError, UsageError, organizationNamed } from '../app/operator.ts'
import { type ReaderAddresses, ingestAddresses, readerAddresses } from '../app/local-url.ts'
import { findRunningServer } from '../app/running-server.ts'
import { formatMillis } from '../kernel/instant.ts'
import { changeReader, createReader, readerChangedTopic, removeReader, rotateReaderToken } from '../readers/commands.ts'
import { type NewReader, type Reader, type ReaderDraft, type Smoothing, readerFormats } from '../readers/reader.ts'
import { listReaders, liveLocations } from '../readers/readers.sql.ts'
import { listUnknownTopics } from '../readers/unknown.sql.ts'
import { readerClocks } from '../tracking/observed-time.ts'
import { type CommandSession, allPages, checkLine, withContext, operatorCommand } from './command.ts'
import { chosenOrganizations } from './org.ts'
import type { Listing } from './output.ts'
import { type Antenna, collectAntennas, parseOverlap, parseSmoothing, parseSmoothingOrOff } from './reader-options.ts'

interface ReaderRef {
  org: string
  reader: string
}

interface Settings {
  antenna?: Antenna[]
  format: string
  clock: string
}

const readersOf = (context: AppContext, orgId: number): Promise<Reader[]> =>
  allPages((page) => listReaders(context.db.read, orgId, page))

/** Finds a reader by its name, or by its id. An id is needed if several readers have the name. */
async function readerNamed(
  context: AppContext,
  { org, reader: nameOrId }: ReaderRef,
): Promise<{ orgId: number; reader: Reader }> {
  const { orgId, name } = await organizationNamed(context, org)
  const readers = await readersOf(context, orgId)
  const matches = readers.filter((one) => one.name === nameOrId)
  if (matches.length > 1)
    throw new OperatorError(
      `Several readers of ${name} are called ${JSON.stringify(nameOrId)}: name one by its id, ${matches.map(({ id }) => id).join(' or ')}`,
    )
  const reader = matches[0] ?? readers.find(({ id }) => String(id) === nameOrId)
  if (reader === undefined) throw new OperatorError(`${name} has no reader called ${JSON.stringify(nameOrId)}`)
  return { orgId, reader }
}

async function scanPointsOf(
  context: AppContext,
  orgId: number,
  antennas: readonly Antenna[],
): Promise<ReaderDraft['scanPoints']> {
  const keys = antennas.flatMap(({ key }) => key ?? [])
  const locations = await liveLocations(context.db.read, orgId, { keys })
  const missing = keys.find((key) => !locations.has(key))
  if (missing !== undefined) throw new OperatorError(`There is no location with the key ${JSON.stringify(missing)}`)
  return antennas.map(({ antenna, key }) => ({ antenna, locationId: key === null ? null : locations.get(key)! }))
}

const settingsOf = (reader: Reader): Facts => ({
  format: reader.format,
  clock: reader.clock,
  smoothing: reader.smoothing && {
    reads: reader.smoothing.reads,
    seconds: reader.smoothing.seconds,
    margin_db: reader.smoothing.marginDb,
  },
  antennas: reader.scanPoints.map((point) => ({ antenna: point.antenna, location: point.locationKey })),
})

/** The addresses to which readers send: those that the running server recorded, or those of the current settings. */
async function addressesOf({ config }: AppContext, progress: CommandSession['progress']): Promise<ReaderAddresses> {
  const running = await findRunningServer(config)
  if (running !== null) return running.readers
  if (config.databaseUrl === null)
    progress(
      'No server is running with this data directory. With the current settings, it would accept reads at this address.',
    )
  else if (config.baseUrl === null)
    progress(
      'The address is derived from the settings of this command. Use those of the server (PORT, LASTSEEN_BASE_URL).',
    )
  return readerAddresses(config, config.port)
}

const factsOf = (orgId: number, reader: Reader, addresses: ReaderAddresses): Facts => {
  const { ingest_url, mqtt } = ingestAddresses(addresses, reader)
  return {
    reader_id: reader.id,
    name: reader.name,
    org_id: orgId,
    ...settingsOf(reader),
    unknown_antennas: reader.unknownAntennas,
    last_seen_at: reader.lastSeenAt && formatMillis(reader.lastSeenAt),
    messages: reader.messages,
    reads: reader.reads,
    ignored: reader.ignored,
    warning: reader.warning,
    created_at: formatMillis(reader.createdAt),
    ingest_url,
    mqtt,
  }
}

/** The fields of a new reader, with its token, which is shown only once. */
const newFactsOf = (orgId: number, { reader, token }: NewReader, addresses: ReaderAddresses): Facts => {
  const { ingest_url, mqtt } = ingestAddresses(addresses, reader)
  return {
    reader_id: reader.id,
    token,
    ingest_url,
    mqtt: { ...mqtt, password: token },
    name: reader.name,
    org_id: orgId,
    ...settingsOf(reader),
  }
}

type CreateOptions = Settings & { org: string; name: string; smoothing?: Smoothing }

async function createReaderIn(
  context: AppContext,
  options: CreateOptions,
  { progress }: CommandSession,
): Promise<Facts> {
  const name = checkLine('The name', options.name)
  const { orgId } = await organizationNamed(context, options.org)
  const newReader = await createReader(context, orgId, {
    name,
    format: options.format,
    clock: options.clock,
    smoothing: options.smoothing ?? null,
    scanPoints: await scanPointsOf(context, orgId, options.antenna ?? []),
  })
  return newFactsOf(orgId, newReader, await addressesOf(context, progress))
}

export async function listReadersIn(context: AppContext, options: { org?: string }): Promise<Listing> {
  const rows: Facts[] = []
  for (const { orgId, name } of await chosenOrganizations(context, options.org))
    for (const reader of await readersOf(context, orgId))
      rows.push({
        reader_id: reader.id,
        name: reader.name,
        org_id: orgId,
        org: name,
        ...settingsOf(reader),
        last_seen_at: reader.lastSeenAt && formatMillis(reader.lastSeenAt),
        reads: reader.reads,
        ignored: reader.ignored,
        warning: reader.warning,
      })
  return {
    columns: ['reader_id', 'name', 'org', 'format', 'last_seen_at', 'reads', 'ignored', 'warning'],
    rows,
    empty: 'No readers.',
  }
}

async function showReader(context: AppContext, options: ReaderRef, { progress }: CommandSession): Promise<Facts> {
  const { orgId, reader } = await readerNamed(context, options)
  return factsOf(orgId, reader, await addressesOf(context, progress))
}

type UpdateOptions = ReaderRef & Partial<Settings> & { name?: string; smoothing?: Smoothing | 'off'; antennas: boolean }

async function updateReaderIn(
  context: AppContext,
  options: UpdateOptions,
  { progress }: CommandSession,
): Promise<Facts> {
  const { format, clock, smoothing, antenna, antennas } = options
  if (antenna !== undefined && !antennas) throw new UsageError('--antenna and --no-antennas are mutually exclusive')
  const name = options.name === undefined ? undefined : checkLine('The name', options.name)
  const points = antennas ? antenna : []
  if ([name, format, clock, smoothing, points].every((one) => one === undefined))
    throw new UsageError(
      'Specify at least one change: --name, --antenna, --no-antennas, --format, --clock or --smoothing',
    )
  const { orgId, reader } = await readerNamed(context, options)
  const changed = await changeReader(context, orgId, reader.id, {
    ...(name === undefined ? {} : { name }),
    ...(format === undefined ? {} : { format }),
    ...(clock === undefined ? {} : { clock }),
    ...(smoothing === undefined ? {} : { smoothing: smoothing === 'off' ? null : smoothing }),
    ...(points === undefined ? {} : { scanPoints: await scanPointsOf(context, orgId, points) }),
  })
  await context.pubsub.publishAndWait(readerChangedTopic, String(reader.id))
  return factsOf(orgId, changed, await addressesOf(context, progress))
}

type RotateOptions = ReaderRef & { overlap?: number }

export async function rotateToken(
  context: AppContext,
  options: RotateOptions,
  { progress }: CommandSession,
): Promise<Facts> {
  const { orgId, reader } = await readerNamed(context, options)
  const newReader = await rotateReaderToken(context, orgId, reader.id, options.overlap ?? 0)
  await context.pubsub.publishAndWait(readerChangedTopic, String(reader.id))
  const { previousTokenExpiresAt: until } = newReader
  return {
    ...newFactsOf(orgId, newReader, await addressesOf(context, progress)),
    previous_token_expires_at: until && formatMillis(until),
  }
}

async function deleteReaderIn(context: AppContext, options: ReaderRef): Promise<Facts> {
  const { orgId, reader } = await readerNamed(context, options)
  await removeReader(context, orgId, reader.id)
  await context.pubsub.publishAndWait(readerChangedTopic, String(reader.id))
  return { reader_id: reader.id, name: reader.name, org_id: orgId, deleted: true }
}

/** Lists topics of the external broker on which messages arrived but that belong to no reader, latest first. */
export async function showInbox(context: AppContext): Promise<Listing> {
  const topics = await listUnknownTopics(context.db.read)
  return {
    columns: ['topic', 'messages', 'first_seen_at', 'last_seen_at'],
    rows: topics.map(({ topic, messages, firstSeenAt, lastSeenAt }) => ({
      topic,
      messages,
      first_seen_at: formatMillis(firstSeenAt),
      last_seen_at: formatMillis(lastSeenAt),
    })),
    empty: 'No unknown topics.',
  }
}

const orgOption = ['--org <name>', 'the organization, by name or id'] as const
const readerOption = ['--reader <name>', 'the reader, by name or id'] as const
const antennaHelp = 'the location key of an antenna; repeatable; `2=` for an antenna without a location'
const formatOption = (): Option =>
  new Option('--format <format>', 'the message format of the reader').choices(readerFormats)
const clockOption = (): Option =>
  new Option('--clock <clock>', 'the clock that timestamps its reads').choices(readerClocks)

export function addReaderCommands(program: Command): void {
  const reader = program.command('reader').description('devices that read tags')
  operatorCommand(reader, 'list', 'list readers')
    .option('--org <name>', 'only readers of this organization, by name or id')
    .action(withContext(listReadersIn))
  operatorCommand(reader, 'show', 'show one reader, its antennas and the addresses to which it sends')
    .requiredOption(...orgOption)
    .requiredOption(...readerOption)
    .action(withContext(showReader))
  operatorCommand(reader, 'create', 'create a reader; its token is printed only once')
    .requiredOption(...orgOption)
    .requiredOption('--name <name>', 'its name')
    .option('--antenna <number=key>', antennaHelp, collectAntennas)
    .addOption(formatOption().default('auto'))
    .addOption(clockOption().default('reader'))
    .option(
      '--smoothing <rule>',
      'when to confirm a change of location, such as reads=3,seconds=30,margin_db=6; off when absent',
      parseSmoothing,
    )
    .action(withContext(createReaderIn))
  operatorCommand(reader, 'update', 'update a reader; the specified antennas replace all existing ones')
    .requiredOption(...orgOption)
    .requiredOption(...readerOption)
    .option('--name <name>', 'a new name')
    .option('--antenna <number=key>', antennaHelp, collectAntennas)
    .option('--no-antennas', 'remove all antennas')
    .addOption(formatOption())
    .addOption(clockOption())
    .option('--smoothing <rule>', 'as for create, or off', parseSmoothingOrOff)
    .action(withContext(updateReaderIn))
  operatorCommand(
    reader,
    'rotate',
    'give a reader a new token, which is printed only once; the old token stops working',
  )
    .requiredOption(...orgOption)
    .requiredOption(...readerOption)
    .option('--overlap <time>', 'how long the old token stays valid, such as 24h; at most 7d', parseOverlap)
    .action(withContext(rotateToken))
  operatorCommand(reader, 'delete', 'delete a reader; its token stops working')
    .requiredOption(...orgOption)
    .requiredOption(...readerOption)
    .action(withContext(deleteReaderIn))
  operatorCommand(reader, 'inbox', 'list topics of the external broker that belong to no reader').action(
    withContext(showInbox),
  )
}
