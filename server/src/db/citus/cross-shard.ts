import { tables } from '../schema/tables.ts'

/** The scope of a statement that does not run on a single shard. */
type Scope = 'every node' | 'every shard' | 'coordinator'

interface CrossShardStatement {
  /** The beginning of the statement, or a short description. */
  readonly statement: string
  /** The file under server/src. */
  readonly where: string
  readonly scope: Scope
  readonly reason: string
}

const onAllNodes = (where: string, statement: string, reason: string): CrossShardStatement => ({
  statement,
  where,
  scope: 'every node',
  reason,
})
const onCoordinator = (where: string, statement: string, reason: string): CrossShardStatement => ({
  statement,
  where,
  scope: 'coordinator',
  reason,
})
const onAllShards = (where: string, statement: string, reason: string): CrossShardStatement => ({
  statement,
  where,
  scope: 'every shard',
  reason,
})

const buckets = 'One row per credential for all processes; counting it on every node would cost more than the request.'
const failures = 'Counted before the organization is known.'
const topics = 'A topic without a reader belongs to no organization.'

/** The database functions, by the file that calls them. */
const functions: Record<string, string> = {
  record_reads: 'tracking/recording/recording.sql.ts',
  record_operator_sighting: 'tracking/recording/recording.sql.ts',
  record_sightings: 'tracking/recording/recording.sql.ts',
  resolve_reads: 'tracking/recording/recording.sql.ts',
  correct_first_sightings: 'tracking/retention.sql.ts',
  count_location_moves: 'tracking/retention.sql.ts',
}

/** Statements that deliberately do not run on a single shard. All others name one organization and run on its shard. */
export const testedCrossShardStatements: readonly CrossShardStatement[] = [
  onAllNodes(
    'db/id-generator.ts',
    'insert into id_blocks',
    'Every node can map an id to its organization. Once for 1024 ids.',
  ),
  onAllNodes('organizations/organizations.sql.ts', 'insert into organization_names', 'Once for an organization.'),
  onAllNodes('auth/credentials.sql.ts', 'insert into client_ids', 'Once for a credential.'),
  onAllNodes(
    'auth/credentials.sql.ts',
    'delete from client_ids',
    'Housekeeping: credentials that were revoked long ago.',
  ),
  onAllNodes('users/users.sql.ts', 'insert into users', 'Once for a person.'),
  onAllNodes('users/users.sql.ts', 'delete from users', 'When the operator deletes an account.'),
  onAllNodes(
    'users/users.sql.ts',
    'update users',
    'When a person changes the password or confirms the e-mail address.',
  ),
  onAllNodes('users/users.sql.ts', 'insert into memberships', 'Once for a person.'),
  onAllNodes('users/members.sql.ts', 'insert into memberships', 'When a person joins an organization.'),
  onAllNodes('users/members.sql.ts', 'update memberships', 'When the role of a member changes.'),
  onAllNodes('users/members.sql.ts', 'delete from memberships', 'When a person leaves an organization.'),
  onAllNodes('users/resets.sql.ts', 'insert into password_resets', 'When a person has forgotten the password.'),
  onAllNodes('users/resets.sql.ts', 'delete from password_resets', 'When a link is used, replaced or expired.'),
  onAllNodes('readers/readers.sql.ts', 'insert into reader_directory', 'Once for a reader.'),
  onAllNodes('readers/readers.sql.ts', 'delete from reader_directory', 'When a reader is deleted.'),
  onAllNodes(
    'webhooks/webhooks.sql.ts',
    'insert into webhook_directory',
    'When webhook deliveries to an organization start.',
  ),
  onAllNodes(
    'webhooks/webhooks.sql.ts',
    'delete from webhook_directory',
    'When webhook deliveries to an organization stop.',
  ),
  onCoordinator('db/installation.ts', 'insert into installation', 'Once, at the first start.'),
  onCoordinator('db/installation.ts', 'from installation', 'Once, at every start.'),
  onCoordinator('db/installation.ts', 'update installation', 'Once, at the first start with a master key.'),
  onCoordinator('db/installation.ts', 'insert into signing_keys', 'Once, at the first start, and at every rotation.'),
  onCoordinator('db/installation.ts', 'from signing_keys', 'Once, at every start and rotation.'),
  onCoordinator('db/installation.ts', 'update signing_keys', 'At every rotation.'),
  onCoordinator('db/installation.ts', 'delete from signing_keys', 'At every rotation.'),
  onCoordinator(
    'db/id-generator.ts',
    'update installation',
    'The next block of ids, over all organizations. Once for 1024 ids.',
  ),
  onCoordinator(
    'db/create-database.ts',
    'select pg_notify',
    'Events between processes; all processes connect to the coordinator.',
  ),
  onCoordinator('auth/shared-buckets.sql.ts', 'insert into rate_buckets', buckets),
  onCoordinator('auth/shared-buckets.sql.ts', 'delete from rate_buckets', 'Housekeeping: buckets that are full again.'),
  onCoordinator('auth/login-throttle.sql.ts', 'insert into sign_in_failures', failures),
  onCoordinator('auth/login-throttle.sql.ts', 'update sign_in_failures', failures),
  onCoordinator('auth/login-throttle.sql.ts', 'from sign_in_failures', failures),
  onCoordinator('auth/login-throttle.sql.ts', 'delete from sign_in_failures', 'Housekeeping: expired failures.'),
  onCoordinator('readers/unknown.sql.ts', 'insert into unknown_topics', topics),
  onCoordinator('readers/unknown.sql.ts', 'delete from unknown_topics', topics),
  onCoordinator('readers/unknown.sql.ts', 'from unknown_topics', topics),
  ...Object.entries(functions).map(([name, file]) =>
    onCoordinator(file, `from ${name}`, 'A function; each statement in it runs on one shard.'),
  ),
  onCoordinator('bulk/imports.sql.ts', 'select pg_try_advisory_xact_lock', 'One process at a time runs an import.'),
  onCoordinator(
    'bulk/imports.sql.ts',
    'select pg_advisory_xact_lock',
    'The imports of an organization start one after the other.',
  ),
  onCoordinator(
    'db/plan-cache.ts',
    'set local',
    'The plan mode for the rest of the transaction; Citus forwards it to the shard.',
  ),
]

/** Also includes operations that run without a `sql` template, so the tests cannot capture them as statements. */
export const crossShardStatements: readonly CrossShardStatement[] = [
  ...testedCrossShardStatements,
  onCoordinator(
    'db/create-database.ts',
    'listen, names of processes',
    'Events between processes; all processes connect to the coordinator.',
  ),
  onCoordinator(
    'db/instance-slot.ts',
    'advisory locks',
    'Unique process numbers; all processes connect to the coordinator.',
  ),
  onAllShards('db/schema/migrate.ts', 'migrations', 'They change the schema everywhere. Once for a version.'),
  onAllShards('db/citus/distribute.ts', '`lastseen distribute`', 'It distributes the tables. Once for a cluster.'),
  onAllShards(
    'db/schema/partitions.ts',
    'creating and dropping monthly partitions of the history',
    'A month is a partition of every shard. One process checks once an hour and rarely has to change anything.',
  ),
  onAllNodes(
    'backup/organization-data.ts',
    '`lastseen org delete`',
    'It deletes the organization from the reference tables on every node, and its rows from its shard.',
  ),
  onAllShards('backup/backup.ts', '`lastseen backup`', 'It reads everything.'),
]

/** The parts of a statement that do not run on a single shard; [] when the whole statement runs on the tenant's shard. */
export function crossShardSteps(text: string): string[] {
  const kinds = new Map(tables.map(({ name, kind }) => [name, kind]))
  const steps = new Set<string>()
  for (const [, verb = '', table = ''] of text.matchAll(/\b(insert into|update|delete from|from|join)\s+(\w+)/g)) {
    const kind = kinds.get(table)
    if (kind === 'local' || (kind === 'reference' && /^(insert|update|delete)/.test(verb)))
      steps.add(`${verb} ${table}`)
  }
  for (const [, name = ''] of text.matchAll(/\bfrom\s+(\w+)\(/g)) if (name in functions) steps.add(`from ${name}`)
  const [, command] = /^\s*(select pg_\w+|set local)\b/.exec(text) ?? []
  if (command !== undefined) steps.add(command)
  // For a statement that writes, only the parts that write are listed.
  const writes = [...steps].filter((step) => !/^(from|join)/.test(step))
  return writes.length > 0 ? writes : [...steps]
}
