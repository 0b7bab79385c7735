import { once } from 'node:events'
import { openPool } from '../server/dist/db/connect.js'
import { searchText } from '../server/dist/records/record.js'
import { matchValue } from '../server/dist/tags/tag.js'
import { newRandom, pick } from './random.mjs'

const nouns = [
  'Pallet jack',
  'Hand truck',
  'Roll cage',
  'Forklift',
  'Tool chest',
  'Gas bottle',
  'Infusion pump',
  'Wheelchair',
  'Hospital bed',
  'Laptop cart',
  'Projector',
  'Ladder',
  'Generator',
  'Water pump',
  'Cable drum',
  'Steel frame',
]
const owners = ['dock 1', 'dock 2', 'dock 3', 'workshop', 'yard', 'north store']
const remarks = [
  'Checked every spring',
  'Belongs to the early shift',
  'Handle with care',
  'On loan from the other site',
]

const share = { inactive: 0.1, deleted: 0.01, expired: 0.0005, expiring: 0.01, notYet: 0.0005 }
const batchRows = 2_000
const slots = 16
/** Numbers of equal length, so that a search term is as rare in a small organization as in a large one. */
const firstNumber = 1_000_000
const dayMs = 86_400_000

const stamp = (millis) => new Date(millis).toISOString().replace('T', ' ').replace('Z', '+00')

/** An asset as a real installation holds it: most are plain, a few are inactive, deleted or outside their window. */
function assetAt(index, id, tagId, random, nowMs) {
  const createdMs = nowMs - Math.floor(random() * 700 * dayMs) - 30 * dayMs
  const updatedMs = createdMs + Math.floor(random() * 29 * dayMs)
  const isDeleted = random() < share.deleted
  const fate = random()
  const isExpired = fate < share.expired
  const isExpiring = !isExpired && fate < share.expired + share.expiring
  const isNotYet = fate > 1 - share.notYet
  const tag = { id: tagId, type: 'rfid', value: `E2801170${hex(random)}${hex(random)}` }
  const asset = {
    id,
    externalKey: `EQ-${String(index).padStart(7, '0')}`,
    name: `${pick(random, nouns)} ${firstNumber + index}`,
    description: random() < 0.5 ? pick(random, remarks) : null,
    metadata: JSON.stringify({ owner: pick(random, owners), weight_kg: Math.floor(random() * 900) }),
    isActive: random() >= share.inactive,
    validFrom: stamp(isNotYet ? nowMs + 90 * dayMs : createdMs),
    validTo: isExpired ? stamp(nowMs - dayMs) : isExpiring ? stamp(nowMs + 180 * dayMs) : null,
    createdAt: stamp(createdMs),
    updatedAt: stamp(updatedMs),
    deletedAt: isDeleted ? stamp(updatedMs) : null,
    tags: isDeleted ? [] : [tag],
    isListed: !isDeleted && !isExpired && !isNotYet,
  }
  return { ...asset, search: searchText(asset, asset.tags) }
}

const hex = (random) =>
  Math.floor(random() * 2 ** 32)
    .toString(16)
    .toUpperCase()
    .padStart(8, '0')

const line = (values) => `${values.map((value) => value ?? '\\N').join('\t')}\n`

const assetLine = (orgId, a) =>
  line([
    ...[orgId, a.id, a.externalKey, a.name, a.description, a.metadata, a.isActive, a.validFrom, a.validTo],
    ...[a.createdAt, a.updatedAt, a.deletedAt, a.search],
  ])

const tagLine = (orgId, asset, tag) =>
  line([orgId, tag.id, asset.id, tag.type, tag.value, matchValue(tag), asset.createdAt])

/** Secondary indexes are made once the rows are in: the same indexes, several times sooner. */
async function withoutIndexes(pool, work) {
  const indexes = await pool`
    select i.indexname as name, i.indexdef as definition from pg_indexes i
    where i.schemaname = 'public' and i.tablename in ('assets', 'tags')
      and not exists (select from pg_constraint c where c.conname = i.indexname)`
  for (const { name } of indexes) await pool.unsafe(`drop index ${name}`)
  await work()
  for (const { definition } of indexes) await pool.unsafe(definition)
}

async function write(stream, text) {
  if (!stream.write(text)) await once(stream, 'drain')
}

/**
 * Fills the organization with assets, one tag on each, and the counters that go with them. Returns a sample of what a
 * client would know: ids, keys and words to search for.
 */
export async function seedAssets({ url, orgId, ids, count, sampleSize }) {
  // The rows are consistent by construction, so that foreign keys need not be looked up a million times.
  const settings = { session_replication_role: 'replica', maintenance_work_mem: '512MB', synchronous_commit: 'off' }
  const pool = openPool(url, 3, settings)
  const random = newRandom(count)
  const counts = { active: 0, inactive: 0, deletedActive: 0, deletedInactive: 0 }
  const sample = { ids: [], keys: [], terms: [], tags: [] }
  const nowMs = Date.now()
  try {
    await withoutIndexes(pool, async () => {
      const assets =
        await pool`copy assets (org_id, id, external_key, name, description, metadata, is_active, valid_from,
        valid_to, created_at, updated_at, deleted_at, search_text) from stdin`.writable()
      const tags = await pool`copy tags (org_id, id, asset_id, tag_type, value, match_value, created_at)
        from stdin`.writable()
      for (let from = 1; from <= count; from += batchRows) {
        const rows = Math.min(batchRows, count - from + 1)
        const fresh = await ids.many(orgId, rows * 2)
        let assetText = ''
        let tagText = ''
        for (let row = 0; row < rows; row++) {
          const asset = assetAt(from + row, fresh[row * 2], fresh[row * 2 + 1], random, nowMs)
          assetText += assetLine(orgId, asset)
          for (const tag of asset.tags) tagText += tagLine(orgId, asset, tag)
          const state = asset.deletedAt === null ? '' : 'deleted'
          const flag = asset.isActive ? 'active' : 'inactive'
          counts[state === '' ? flag : `deleted${flag[0].toUpperCase()}${flag.slice(1)}`]++
          if (asset.isListed && random() * count < sampleSize) takeSample(sample, asset)
        }
        await write(assets, assetText)
        await write(tags, tagText)
      }
      for (const stream of [assets, tags]) {
        stream.end()
        await once(stream, 'finish')
      }
    })
    await bookCounts(pool, orgId, counts)
    await pool`vacuum analyze`
    await pool`checkpoint`
  } finally {
    await pool.end({ timeout: 5 })
  }
  return sample
}

/** A search term is what somebody remembers of a name: its last word and the number but for the last digit. */
function takeSample(sample, { id, externalKey, name, tags }) {
  sample.tags.push(tags[0].value)
  sample.ids.push(id)
  sample.keys.push(externalKey)
  sample.terms.push(name.split(' ').slice(-2).join(' ').slice(0, -1).toLowerCase())
}

async function bookCounts(pool, orgId, counts) {
  for (let slot = 0; slot < slots; slot++) {
    const part = (total) => Math.floor(total / slots) + (slot < total % slots ? 1 : 0)
    await pool`
      insert into record_counts (org_id, kind, slot, active, inactive, deleted_active, deleted_inactive)
      values (${orgId}, 'asset', ${slot}, ${part(counts.active)}, ${part(counts.inactive)},
        ${part(counts.deletedActive)}, ${part(counts.deletedInactive)})`
  }
}

/**
 * Every live asset was seen somewhere once, and one was watched for a long time: `minutes` rows of history, up to now.
 * Returns the id of that one.
 */
export async function seedWhereabouts({ url, orgId, places, minutes }) {
  const pool = openPool(url, 1, { session_replication_role: 'replica', synchronous_commit: 'off' })
  const ids = places.map((place) => place.id)
  try {
    await pool`
      insert into asset_positions (org_id, asset_id, location_id, last_seen_at, last_minute, minutes)
      select a.org_id, a.id, (${ids}::bigint[])[1 + a.id % ${ids.length}],
        now() - (a.id % 100000) * interval '1 second',
        date_trunc('minute', now() - (a.id % 100000) * interval '1 second'), 1
      from assets a where a.org_id = ${orgId} and a.deleted_at is null`
    await pool`
      insert into record_counts (org_id, kind, slot, active, inactive, deleted_active, deleted_inactive)
      select ${orgId}, 'position', 0, count(*), 0, 0, 0 from asset_positions where org_id = ${orgId}`
    const [{ id }] = await pool`
      select min(id) as id from assets where org_id = ${orgId} and deleted_at is null`
    await pool`
      insert into asset_minutes (org_id, asset_id, minute, location_id, observed_at, source)
      select ${orgId}, ${id}, m, (${ids}::bigint[])[1 + n % ${ids.length}], m + interval '7 seconds', 'reader'
      from (select n, date_trunc('minute', now()) - n * interval '1 minute' as m
        from generate_series(1, ${minutes}::int) n) s`
    await pool`
      update asset_positions set minutes = ${minutes}, last_minute = date_trunc('minute', now()) - interval '1 minute',
        last_seen_at = now() - interval '53 seconds'
      where org_id = ${orgId} and asset_id = ${id}`
    await pool`vacuum analyze`
    await pool`checkpoint`
    return id
  } finally {
    await pool.end({ timeout: 5 })
  }
}
