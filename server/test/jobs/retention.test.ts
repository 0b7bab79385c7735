import { describe, expect, it } from 'vitest'
import { deleteExpiredFamilies } from '../../src/auth/refresh-token-families.sql.ts'
import { keepRetention } from '../../src/jobs/retention.ts'
import { instantFromMillis } from '../../src/kernel/instant.ts'
import { type TestOrg, useApp } from '../support/app.ts'
import { ManualClock } from '../support/auth.ts'
import { useSnapshotDatabase } from '../support/tenant-snapshot.ts'

const clock = new ManualClock()
const context = useApp({ clock })
const database = useSnapshotDatabase(context)

const hour = 3600
const day = 24 * hour
const uuid = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`

/** Each kind of row twice: a row that the job deletes and a row that is slightly too young. `n` distinguishes them. */
const kinds: Record<string, { keptSeconds: number; insert: (orgId: number, n: number, at: Date) => Promise<unknown> }> =
  {
    'a session or refresh token that expired': {
      keptSeconds: 0,
      insert: (org, n, at) => database.sql`
      insert into refresh_token_families (org_id, family_id, environment, user_id, token_hash, created_at, expires_at)
      values (${org}, ${uuid(n)}, 'production', 1, '', ${at}, ${at})`,
    },
    'a session or refresh token that was revoked': {
      keptSeconds: day,
      insert: (org, n, at) => database.sql`
      insert into refresh_token_families (org_id, family_id, environment, user_id, token_hash, created_at, expires_at, revoked_at)
      values (${org}, ${uuid(n + 2)}, 'production', 1, '', ${at}, '2999-01-01', ${at})`,
    },
    'an API key that was revoked': {
      keptSeconds: 30 * day,
      insert: async (org, n, at) => {
        await database.sql`insert into client_ids (client_id, org_id) values (${uuid(n + 4)}, ${org})`
        await database.sql`
        insert into credentials (org_id, id, client_id, name, secret_hash, scopes, environment, created_at, revoked_at)
        values (${org}, ${n}, ${uuid(n + 4)}, 'k', '', '{}', 'production', ${at}, ${at})`
      },
    },
    'an invitation that expired': {
      keptSeconds: 0,
      insert: (org, n, at) => database.sql`
      insert into invitations (org_id, id, email, role, token_hash, created_at, expires_at)
      values (${org}, ${n}, ${`${n}@example.com`}, 'viewer', '', ${at}, ${at})`,
    },
    'a link to reset a password that expired': {
      keptSeconds: 0,
      insert: async (_org, n, at) => {
        await database.sql`insert into users values (${n}, ${`reset-${n}@example.com`}, '', ${at})`
        await database.sql`insert into password_resets values (${Buffer.from([n])}, ${n}, ${at}, ${at})`
      },
    },
    'a tag of the inbox': {
      keptSeconds: 30 * day,
      insert: (org, n, at) => database.sql`
      insert into unknown_tags (org_id, tag_type, normalized_value, value, reads, first_seen_at, last_seen_at)
      values (${org}, 'rfid', ${String(n)}, 'v', 1, ${at}, ${at})`,
    },
    'an antenna without a scan point': {
      keptSeconds: 30 * day,
      insert: (org, n, at) => database.sql`
      insert into unknown_antennas (org_id, reader_id, antenna, reads, last_seen_at) values (${org}, 1, ${n}, 1, ${at})`,
    },
    'a topic without a reader': {
      keptSeconds: 30 * day,
      insert: (_org, n, at) => database.sql`insert into unknown_topics values (${`topic ${n}`}, 1, ${at}, ${at})`,
    },
    'a webhook attempt': {
      keptSeconds: 7 * day,
      insert: (org, n, at) => database.sql`
      insert into webhook_attempts (org_id, attempted_at, delivery_id, attempt, webhook_id, event, duration_ms)
      values (${org}, ${at}, ${uuid(n)}, 1, 1, 'asset.moved', 1)`,
    },
    'a note of an operator’s save': {
      keptSeconds: 400 * day,
      insert: (org, n, at) => database.sql`
      insert into sighting_notes (org_id, asset_id, minute, save_id, location_id, user_id, noted_at, note)
      values (${org}, 1, ${at}, ${n}, 1, 1, ${at}, 'n')`,
    },
    'an import with its rows': {
      keptSeconds: day,
      insert: async (org, n, at) => {
        await database.sql`
        insert into imports (org_id, id, kind, state, rows, creates, updates, unchanged, errors_total, errors, created_at,
          changed_at) values (${org}, ${n}, 'assets', 'open', 1, 0, 0, 0, 0, '[]', ${at}, ${at})`
        await database.sql`insert into import_rows values (${org}, ${n}, 1, '{}', 2)`
      },
    },
  }

const tables = [
  'refresh_token_families',
  'credentials',
  'client_ids',
  'invitations',
  'password_resets',
  'unknown_tags',
  'unknown_antennas',
  'unknown_topics',
  'webhook_attempts',
  'imports',
  'import_rows',
  'sighting_notes',
]

const count = async (): Promise<number> => {
  let rows = 0
  for (const table of tables) {
    const [row] = await database.sql.unsafe(`select count(*)::int as rows from ${table}`)
    rows += (row as unknown as { rows: number }).rows
  }
  return rows
}

it.each(Object.entries(kinds))(
  'The hourly job deletes %s after its retention time and not before',
  async (_what, kind) => {
    const { orgId } = await context.app.newOrg()
    const nowMs = clock.millis()
    const at = (seconds: number): Date => new Date(nowMs - seconds * 1000)
    for (const table of [...tables].reverse()) await database.sql.unsafe(`delete from ${table}`)
    await kind.insert(orgId, 1, at(kind.keptSeconds + 60))
    const old = await count()
    await kind.insert(orgId, 2, at(kind.keptSeconds - 60))
    await keepRetention(context.app.context, context.app.databaseUrl)
    expect(await count()).toBe(old)
    clock.advance(120)
    await keepRetention(context.app.context, context.app.databaseUrl)
    expect(await count()).toBe(0)
    clock.advance(-120)
  },
)

it('The hourly job reads a bounded number of rows for each import that it deletes, also when the last run had few', async () => {
  const { orgId } = await context.app.newOrg()
  const runWith = async (imports: number): Promise<{ deleted: number; read: number }> => {
    await database.sql`
      insert into imports (org_id, id, kind, state, is_trimmed, idempotency_key, request_digest, rows, creates, updates,
        unchanged, errors_total, errors, created_at, changed_at)
      select ${orgId}, n, 'assets', 'failed', true, 'key ' || n, '', 0, 0, 0, 0, 0, '[]', '2026-01-01', '2026-01-01'
      from generate_series(1, ${imports}::int) n`
    await keepRetention(context.app.context, context.app.databaseUrl)
    const [row] = await database.sql<{ deleted: number; read: number }[]>`
      select n_tup_del::int as deleted, (seq_tup_read + idx_tup_fetch)::int as read
      from pg_stat_user_tables where relname = 'imports'`
    return row!
  }
  await runWith(1)
  await runWith(3000)
  // A connection reports its counts when it is idle.
  await expect.poll(async () => (await runWith(0)).deleted, { timeout: 20_000 }).toBeGreaterThan(3000)
  const { deleted, read } = await runWith(0)
  expect(read / deleted).toBeLessThan(20)
})

describe('An account whose address was not confirmed', () => {
  let userId = 7_000_000_000
  interface Account {
    org: TestOrg
    userId: number
  }

  /** The only member of a new organization, who has signed up that long ago. */
  async function signUp({
    daysAgo,
    confirmedAt = null,
  }: {
    daysAgo: number
    confirmedAt?: Date | null
  }): Promise<Account> {
    const org = await context.app.newOrg()
    const at = new Date(clock.millis() - daysAgo * day * 1000)
    const email = `unconfirmed-${++userId}@example.com`
    await database.sql`insert into users values (${userId}, ${email}, '', ${at}, ${confirmedAt})`
    await database.sql`insert into memberships values (${userId}, ${org.orgId}, 'admin', ${at})`
    return { org, userId }
  }

  async function runJob(mailUrl: string | null = 'smtp://127.0.0.1:1'): Promise<void> {
    const { config } = context.app.context
    await keepRetention({ ...context.app.context, config: { ...config, mailUrl } }, context.app.databaseUrl)
  }

  async function isKept({ org, userId }: Account): Promise<boolean> {
    const [row] = await database.sql<{ organizations: number; users: number }[]>`
      select (select count(*)::int from organizations where org_id = ${org.orgId}) as organizations,
        (select count(*)::int from users where user_id = ${userId}) as users`
    expect(row!.users).toBe(row!.organizations)
    return row!.users === 1
  }

  it('is deleted 30 days after the sign-up and not before, with its organization', async () => {
    const [old, young] = [await signUp({ daysAgo: 30.001 }), await signUp({ daysAgo: 29.999 })]
    await runJob()
    expect([await isKept(old), await isKept(young)]).toEqual([false, true])
  })

  it.each<[string, (account: Account) => Promise<unknown>]>([
    ['its organization has an asset', ({ org }) => org.full.send('POST', '/api/v1/assets', { json: { name: 'a' } })],
    [
      'its organization has a location',
      ({ org }) => org.full.send('POST', '/api/v1/locations', { json: { name: 'a' } }),
    ],
    [
      'its organization has a reader',
      ({ org: { orgId } }) => database.sql`
        insert into readers (org_id, id, name, format, clock, token_hash, topic_key, created_at, messages, reads, ignored)
        values (${orgId}, 1, 'a', 'auto', 'reader', '', 'a', now(), 0, 0, 0)`,
    ],
    [
      'its organization has another member',
      async ({ org: { orgId } }) => {
        const other = await signUp({ daysAgo: 1, confirmedAt: new Date() })
        await database.sql`insert into memberships values (${other.userId}, ${orgId}, 'viewer', now())`
      },
    ],
    [
      'it has joined another organization',
      async ({ userId }) => {
        const { orgId } = await context.app.newOrg()
        await database.sql`insert into memberships values (${userId}, ${orgId}, 'viewer', now())`
      },
    ],
  ])('is kept while %s', async (_what, change) => {
    const account = await signUp({ daysAgo: 31 })
    await change(account)
    await runJob()
    expect(await isKept(account)).toBe(true)
  })

  it('is kept when the address is confirmed, and on a server without mail', async () => {
    const confirmed = await signUp({ daysAgo: 31, confirmedAt: new Date() })
    const unconfirmed = await signUp({ daysAgo: 31 })
    await runJob(null)
    expect(await isKept(unconfirmed)).toBe(true)
    await runJob()
    expect([await isKept(confirmed), await isKept(unconfirmed)]).toEqual([true, false])
  })
})

it('The hourly job continues with the next organization when the deletion fails for one', async () => {
  const [failing, other] = [await context.app.newOrg(), await context.app.newOrg()]
  const at = new Date(clock.millis() - 40 * day * 1000)
  for (const { orgId } of [failing, other])
    await database.sql`
      insert into unknown_tags (org_id, tag_type, normalized_value, value, reads, first_seen_at, last_seen_at)
      values (${orgId}, 'rfid', 'old', 'v', 1, ${at}, ${at})`
  await database.sql.unsafe(`
    create function reject_deletion() returns trigger language plpgsql as $$ begin raise exception 'rejected'; end $$;
    create trigger reject_deletion before delete on unknown_tags
      for each row when (old.org_id = ${failing.orgId}) execute function reject_deletion()`)
  const failures: number[] = []
  try {
    await keepRetention(context.app.context, context.app.databaseUrl, (orgId) => failures.push(orgId))
  } finally {
    await database.sql.unsafe('drop function reject_deletion cascade')
  }
  expect(failures).toEqual([failing.orgId])
  const left = await database.sql`select org_id::bigint from unknown_tags`
  expect(left.map((row) => Number(row['org_id']))).toEqual([failing.orgId])
})

it('One statement of the hourly job deletes at most 1,000 sessions', async () => {
  const { orgId } = await context.app.newOrg()
  const at = new Date(clock.millis() - day * 1000)
  await database.sql`
    insert into refresh_token_families (org_id, family_id, environment, user_id, token_hash, created_at, expires_at)
    select ${orgId}, gen_random_uuid(), 'production', 1, '', ${at}, ${at} from generate_series(1, 2500)`
  const { db } = context.app.context
  const before = instantFromMillis(clock.millis())
  const left = async (): Promise<number> =>
    (await database.sql`select from refresh_token_families where org_id = ${orgId}`).length
  expect(await db.withTenant(orgId, (tx) => deleteExpiredFamilies(tx, orgId, before))).toBe(true)
  expect(await left()).toBe(1500)
  await keepRetention(context.app.context, context.app.databaseUrl)
  expect(await left()).toBe(0)
})
