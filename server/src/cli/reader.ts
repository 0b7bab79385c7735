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
import { type Session, allPages, checkLine, onCore, operatorCommand } from './command.ts'
import { chosenOrganizations } from './org.ts'
import type { Listing } from './output.ts'
import { type Antenna, collectAntennas, parseSmoothing, parseSmoothingOrOff } from './reader-options.ts'

interface Named {
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

/** By name, or by id where several readers share the name. */
async function readerNamed(
  context: AppContext,
  { org, reader: given }: Named,
): Promise<{ orgId: number; reader: Reader }> {
  const { orgId, name } = await organizationNamed(context, org)
  const readers = await readersOf(context, orgId)
  const found = readers.filter((one) => one.name === given)
  if (found.length > 1)
    throw new OperatorError(
      `Several readers of ${name} are called ${JSON.stringify(given)}: name one by its id, ${found.map(({ id }) => id).join(' or ')}`,
    )
  const reader = found[0] ?? readers.find(({ id }) => String(id) === given)
  if (reader === undefined) throw new OperatorError(`${name} has no reader called ${JSON.stringify(given)}`)
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

/** Where readers send to: as the running server recorded it, or as the present settings say. */
async function addressesOf({ config }: AppContext, progress: Session['progress']): Promise<ReaderAddresses> {
  const running = await findRunningServer(config)
  if (running !== null) return running.readers
  if (config.databaseUrl === null)
    progress(
      'No server is running on this data folder. With the present settings, one will take reads at this address.',
    )
  else if (config.baseUrl === null)
    progress(
      'The address follows the settings of this command. Give it the settings of the server (PORT, LASTSEEN_BASE_URL).',
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

/** The only time a token is shown. */
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

async function createReaderIn(context: AppContext, options: CreateOptions, { progress }: Session): Promise<Facts> {
  const name = checkLine('The name', options.name)
  const { orgId } = await organizationNamed(context, options.org)
  const made = await createReader(context, orgId, {
    name,
    format: options.format,
    clock: options.clock,
    smoothing: options.smoothing ?? null,
    scanPoints: await scanPointsOf(context, orgId, options.antenna ?? []),
  })
  return newFactsOf(orgId, made, await addressesOf(context, progress))
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

async function showReader(context: AppContext, options: Named, { progress }: Session): Promise<Facts> {
  const { orgId, reader } = await readerNamed(context, options)
  return factsOf(orgId, reader, await addressesOf(context, progress))
}

type UpdateOptions = Named & Partial<Settings> & { name?: string; smoothing?: Smoothing | 'off'; antennas: boolean }

async function updateReaderIn(context: AppContext, options: UpdateOptions, { progress }: Session): Promise<Facts> {
  const { format, clock, smoothing, antenna, antennas } = options
  if (antenna !== undefined && !antennas) throw new UsageError('--antenna and --no-antennas contradict each other')
  const name = options.name === undefined ? undefined : checkLine('The name', options.name)
  const points = antennas ? antenna : []
  if ([name, format, clock, smoothing, points].every((one) => one === undefined))
    throw new UsageError('Say what to change: --name, --antenna, --no-antennas, --format, --clock or --smoothing')
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

export async function rotateToken(context: AppContext, options: Named, { progress }: Session): Promise<Facts> {
  const { orgId, reader } = await readerNamed(context, options)
  const made = await rotateReaderToken(context, orgId, reader.id)
  await context.pubsub.publishAndWait(readerChangedTopic, String(reader.id))
  return newFactsOf(orgId, made, await addressesOf(context, progress))
}

async function deleteReaderIn(context: AppContext, options: Named): Promise<Facts> {
  const { orgId, reader } = await readerNamed(context, options)
  await removeReader(context, orgId, reader.id)
  await context.pubsub.publishAndWait(readerChangedTopic, String(reader.id))
  return { reader_id: reader.id, name: reader.name, org_id: orgId, deleted: true }
}

/** Topics of the outside broker under which messages came although they lead to no reader, latest first. */
export async function showInbox(context: AppContext): Promise<Listing> {
  const topics = await listUnknownTopics(context.db.read)
  return {
    columns: ['topic', 'messages', 'first_seen_at', 'last_seen_at'],
    rows: topics.map((one) => ({
      topic: one.topic,
      messages: one.messages,
      first_seen_at: formatMillis(one.firstSeenAt),
      last_seen_at: formatMillis(one.lastSeenAt),
    })),
    empty: 'No unknown topics.',
  }
}

const orgOption = ['--org <name>', 'the organization, by name or id'] as const
const readerOption = ['--reader <name>', 'the reader, by name or id'] as const
const antennaAbout = 'the location key an antenna looks at; repeat it; `2=` for an antenna without a location'
const formatOption = (): Option => new Option('--format <format>', 'what the reader sends').choices(readerFormats)
const clockOption = (): Option => new Option('--clock <clock>', 'which clock stamps its reads').choices(readerClocks)

export function addReaderCommands(program: Command): void {
  const reader = program.command('reader').description('devices that report what they read')
  operatorCommand(reader, 'list', 'list readers')
    .option('--org <name>', 'only those of this organization, by name or id')
    .action(onCore(listReadersIn))
  operatorCommand(reader, 'show', 'show one reader, its antennas and where it sends to')
    .requiredOption(...orgOption)
    .requiredOption(...readerOption)
    .action(onCore(showReader))
  operatorCommand(reader, 'create', 'add a reader; its token is printed this once')
    .requiredOption(...orgOption)
    .requiredOption('--name <name>', 'its name')
    .option('--antenna <number=key>', antennaAbout, collectAntennas)
    .addOption(formatOption().default('auto'))
    .addOption(clockOption().default('reader'))
    .option(
      '--smoothing <rule>',
      'when to believe a change of location, such as reads=3,seconds=30,margin_db=6; off when absent',
      parseSmoothing,
    )
    .action(onCore(createReaderIn))
  operatorCommand(reader, 'update', 'change a reader; the antennas given replace all it has')
    .requiredOption(...orgOption)
    .requiredOption(...readerOption)
    .option('--name <name>', 'a new name')
    .option('--antenna <number=key>', antennaAbout, collectAntennas)
    .option('--no-antennas', 'take all antennas away')
    .addOption(formatOption())
    .addOption(clockOption())
    .option('--smoothing <rule>', 'as for create, or off', parseSmoothingOrOff)
    .action(onCore(updateReaderIn))
  operatorCommand(reader, 'rotate', 'give a reader a new token, printed this once; the old one stops working')
    .requiredOption(...orgOption)
    .requiredOption(...readerOption)
    .action(onCore(rotateToken))
  operatorCommand(reader, 'delete', 'remove a reader; its token stops working')
    .requiredOption(...orgOption)
    .requiredOption(...readerOption)
    .action(onCore(deleteReaderIn))
  operatorCommand(reader, 'inbox', 'list topics of your own broker that lead to no reader').action(onCore(showInbox))
}
