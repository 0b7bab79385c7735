import { historyTable } from './partitions.ts'

/**
 * `tenant`: every row belongs to one organization; on Citus distributed by org_id and co-located.
 * `reference`: maps a globally unique value to an organization; on Citus a copy on every node.
 * `local`: belongs to no organization and is never joined; on Citus it stays on the coordinator.
 */
export type TableKind = 'tenant' | 'reference' | 'local'

interface Table {
  readonly name: string
  readonly kind: TableKind
  /** Why it is not a tenant table. */
  readonly reason?: string
  /** May be lost in a crash, so backups omit it. Unlogged on a single server, logged on Citus so that shards can move. */
  readonly isFleeting?: true
}

const reference = (name: string, reason: string): Table => ({ name, kind: 'reference', reason })
const local = (name: string, reason: string): Table => ({ name, kind: 'local', reason })
const tenant = (name: string): Table => ({ name, kind: 'tenant' })
const fleeting = (table: Table): Table => ({ ...table, isFleeting: true })

/** All tables, each after the tables that its foreign keys refer to. */
export const tables: readonly Table[] = [
  local('schema_migrations', 'Read and written only by migrations.'),
  local('installation', 'One row: the keys of the installation and the number of the next block of ids.'),
  local('signing_keys', 'The keys that sign access tokens; read at every start.'),
  fleeting(
    local(
      'rate_buckets',
      'Written by every request of a credential, by its client id; a copy on every node would cost too much.',
    ),
  ),
  fleeting(local('sign_in_failures', 'Written by every attempt to sign in, before the organization is known.')),
  local('unknown_topics', 'Topics of an external broker without a reader, so they belong to no organization.'),
  reference('id_blocks', 'Maps an id to its organization; one row for 1024 ids.'),
  reference('organization_names', 'The list of organizations.'),
  reference(
    'users',
    'An e-mail address is unique in the installation, and a person may belong to several organizations.',
  ),
  reference('memberships', 'Maps a person to the organizations.'),
  reference('password_resets', 'Belongs to a person, not to an organization.'),
  reference('client_ids', 'Maps a client id to its organization.'),
  reference('reader_directory', 'Maps a reader’s token or topic to its organization.'),
  reference('webhook_directory', 'The organizations with webhook deliveries.'),
  tenant('organizations'),
  tenant('credentials'),
  tenant('refresh_token_families'),
  tenant('record_counts'),
  tenant('key_counters'),
  tenant('assets'),
  tenant('locations'),
  tenant('asset_positions'),
  tenant('first_sightings'),
  tenant('first_sighting_counts'),
  fleeting(tenant('recent_sightings')),
  tenant('tags'),
  tenant('readers'),
  tenant('scan_points'),
  tenant('unknown_tags'),
  tenant('unknown_antennas'),
  tenant(historyTable),
  tenant('moves'),
  tenant('departures_without_move'),
  tenant('location_move_counts'),
  tenant('sighting_notes'),
  tenant('webhook_outbox'),
  tenant('webhooks'),
  tenant('webhook_attempts'),
  tenant('invitations'),
  tenant('saved_views'),
  tenant('imports'),
  tenant('import_rows'),
]

export const fleetingTables: readonly string[] = tables.filter((table) => table.isFleeting).map(({ name }) => name)
