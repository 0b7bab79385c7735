import { tables } from '../schema/tables.ts'

/** Where a statement goes that does not run on one shard alone. */
type Reach = 'every node' | 'every shard' | 'coordinator'

interface CrossShardStatement {
  /** The statement in short. */
  readonly statement: string
  /** The file under server/src. */
  readonly where: string
  readonly reach: Reach
  readonly reason: string
}

const onAllNodes = (where: string, statement: string, reason: string): CrossShardStatement => ({
  statement,
  where,
  reach: 'every node',
  reason,
})
const onCoordinator = (where: string, statement: string, reason: string): CrossShardStatement => ({
  statement,
  where,
  reach: 'coordinator',
  reason,
})
const onAllShards = (where: string, statement: string, reason: string): CrossShardStatement => ({
  statement,
  where,
  reach: 'every shard',
  reason,
})

const buckets = 'One row per credential for all processes; counting it on every node would cost more than the request.'
const failures = 'Counted before the organization is known.'
const topics = 'No organization owns a topic that leads to no reader.'

/** The functions of the database. */
const functions = ['record_reads', 'record_operator_sighting', 'record_sightings', 'resolve_reads']

/** What deliberately does not run on one shard. Everything else names one organization and runs where it lives. */
export const testedCrossShardStatements: readonly CrossShardStatement[] = [
  onAllNodes('db/id-generator.ts', 'insert into id_blocks', 'Every node can tell whose an id is. Once for 1024 ids.'),
  onAllNodes('organizations/organizations.sql.ts', 'insert into organization_names', 'Once for an organization.'),
  onAllNodes('auth/credentials.sql.ts', 'insert into client_ids', 'Once for a credential.'),
  onAllNodes(
    'auth/credentials.sql.ts',
    'delete from client_ids',
    'Housekeeping: credentials that were revoked long ago.',
  ),
  onAllNodes('users/users.sql.ts', 'insert into users', 'Once for a person.'),
  onAllNodes('users/users.sql.ts', 'delete from users', 'When the operator deletes an account.'),
  onAllNodes('users/users.sql.ts', 'update users', 'When a person takes another password.'),
  onAllNodes('users/users.sql.ts', 'insert into memberships', 'Once for a person.'),
  onAllNodes('users/members.sql.ts', 'insert into memberships', 'When a person joins an organization.'),
  onAllNodes('users/members.sql.ts', 'update memberships', 'When a person takes another role.'),
  onAllNodes('users/members.sql.ts', 'delete from memberships', 'When a person leaves an organization.'),
  onAllNodes('users/resets.sql.ts', 'insert into password_resets', 'When a person has forgotten the password.'),
  onAllNodes('users/resets.sql.ts', 'delete from password_resets', 'When a link is used, replaced or too old.'),
  onAllNodes('readers/readers.sql.ts', 'insert into reader_directory', 'Once for a reader.'),
  onAllNodes('readers/readers.sql.ts', 'delete from reader_directory', 'When a reader goes.'),
  onAllNodes(
    'webhooks/webhooks.sql.ts',
    'insert into webhook_directory',
    'When an organization is delivered to from now on.',
  ),
  onAllNodes(
    'webhooks/webhooks.sql.ts',
    'delete from webhook_directory',
    'When an organization is delivered to no more.',
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
  onCoordinator('auth/shared-buckets.sql.ts', 'insert into rate_buckets', buckets),
  onCoordinator('auth/shared-buckets.sql.ts', 'delete from rate_buckets', 'Housekeeping: buckets that are full again.'),
  onCoordinator('auth/login-throttle.sql.ts', 'insert into sign_in_failures', failures),
  onCoordinator('auth/login-throttle.sql.ts', 'update sign_in_failures', failures),
  onCoordinator('auth/login-throttle.sql.ts', 'delete from sign_in_failures', 'Housekeeping: failures of long ago.'),
  onCoordinator('readers/unknown.sql.ts', 'insert into unknown_topics', topics),
  onCoordinator('readers/unknown.sql.ts', 'delete from unknown_topics', topics),
  onCoordinator('readers/unknown.sql.ts', 'from unknown_topics', topics),
  ...functions.map((name) =>
    onCoordinator('tracking/recording.sql.ts', `from ${name}`, 'A function; each statement in it runs on one shard.'),
  ),
  onCoordinator('bulk/imports.sql.ts', 'select pg_try_advisory_xact_lock', 'One process at a time works on an import.'),
  onCoordinator(
    'bulk/imports.sql.ts',
    'select pg_advisory_xact_lock',
    'The imports of an organization start one after the other.',
  ),
  onCoordinator(
    'db/plan-cache.ts',
    'set local',
    'How the rest of the transaction is planned; told to the shard it goes to.',
  ),
]

/** The same of what is done without a `sql` template: described, because no test meets it as a statement. */
export const crossShardStatements: readonly CrossShardStatement[] = [
  ...testedCrossShardStatements,
  onCoordinator(
    'db/create-database.ts',
    'listen, notify, names of processes',
    'News between processes; all are on the coordinator.',
  ),
  onCoordinator(
    'db/instance-slot.ts',
    'advisory locks',
    'Processes tell each other apart; all are on the coordinator.',
  ),
  onAllShards('db/schema/migrate.ts', 'migrations', 'They change the schema everywhere. Once for a version.'),
  onAllShards('db/citus/distribute.ts', '`lastseen distribute`', 'It spreads the tables. Once for a cluster.'),
  onAllShards(
    'db/schema/partitions.ts',
    'making a month of history and dropping one',
    'A month is a partition of every shard. One process looks once an hour, and nearly always nothing is to do.',
  ),
  onAllNodes(
    'backup/organization-data.ts',
    '`lastseen org delete`',
    'It deletes the organization from the lists on every node, and its rows where they live.',
  ),
  onAllShards('backup/backup.ts', '`lastseen backup`', 'It reads everything.'),
]

/** What a statement does that is not done on one shard: [] when one organization's shard is all it needs. */
export function crossShardSteps(text: string): string[] {
  const kinds = new Map(tables.map(({ name, kind }) => [name, kind]))
  const found = new Set<string>()
  for (const [, verb = '', table = ''] of text.matchAll(/\b(insert into|update|delete from|from|join)\s+(\w+)/g)) {
    const kind = kinds.get(table)
    if (kind === 'local' || (kind === 'reference' && /^(insert|update|delete)/.test(verb)))
      found.add(`${verb} ${table}`)
  }
  for (const [, name = ''] of text.matchAll(/\bfrom\s+(\w+)\(/g))
    if (functions.includes(name)) found.add(`from ${name}`)
  const [, alone] = /^\s*(select pg_\w+|set local)\b/.exec(text) ?? []
  if (alone !== undefined) found.add(alone)
  // What is written is said; that it is read in the same statement goes without saying.
  const written = [...found].filter((step) => !/^(from|join)/.test(step))
  return written.length > 0 ? written : [...found]
}
