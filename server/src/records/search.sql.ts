import type { Db } from '../db/database.ts'
import { type Sql, join, sql } from '../db/sql.ts'
import { codePointLength } from '../kernel/json.ts'
import { type TagType, normalizedValue, tagTypes } from '../tags/tag.ts'
import type { RecordKind } from './counts.sql.ts'
import { foldCase } from './record.ts'
import { contains } from './search-term.sql.ts'

export interface Hit {
  id: number
  externalKey: string
  name: string
}

export interface TagHit {
  id: number
  type: TagType
  value: string
  assetId: number | null
  locationId: number | null
  ownerKey: string
  ownerName: string
}

const tables: Record<RecordKind, Sql> = { asset: sql`assets`, location: sql`locations` }

/** A shorter term has no trigram, so only prefixes are searched. */
const minTrigramLength = 3
/** The best hits are selected from at most this many matches, which bounds the cost of very common terms. */
const maxCandidates = 100

/** In byte order, a prefix followed by this character sorts after every text with that prefix. */
const lastCharacter = '\u{10FFFF}'

const startsWith = (column: Sql, prefix: string): Sql =>
  sql`${column} >= ${prefix} and ${column} < ${prefix + lastCharacter}`

/** The prefix indexes are case-sensitive, so each common spelling is looked up. */
const spellings = (q: string): string[] => [
  ...new Set([q, q.toLowerCase(), q.toUpperCase(), q.charAt(0).toUpperCase() + q.slice(1).toLowerCase()]),
]

/** For search-as-you-type: records that start with the term first, then those that contain it. */
export async function searchRecords(db: Db, orgId: number, kind: RecordKind, q: string, limit: number): Promise<Hit[]> {
  if (q === '') return []
  const columns = sql`select r.id, r.external_key, r.name from ${tables[kind]} r
    where r.org_id = ${orgId} and r.deleted_at is null`
  const prefixMatches = (column: Sql): Sql[] =>
    spellings(q).map((one) => sql`(${columns} and ${startsWith(column, one)} order by ${column} limit ${limit})`)
  const queries = [...prefixMatches(sql`r.external_key`), ...prefixMatches(sql`r.name`)]
  if (codePointLength(q) >= minTrigramLength)
    queries.push(sql`(${columns} and ${contains(sql`r`, q)} limit ${maxCandidates})`)
  const rows = await db.query<{ id: number; external_key: string; name: string }>(join(queries, sql` union `))
  const hits = rows.map((row) => ({ id: row.id, externalKey: row.external_key, name: row.name }))
  const ranked = hits.map((hit) => ({ hit, rank: rankOf(hit, foldCase(q)) }))
  ranked.sort((a, b) => a.rank - b.rank || (a.hit.externalKey < b.hit.externalKey ? -1 : 1))
  return ranked.slice(0, limit).map(({ hit }) => hit)
}

function rankOf({ externalKey, name }: Hit, q: string): number {
  const [key, title] = [foldCase(externalKey), foldCase(name)]
  if (key === q || title === q) return 0
  if (key.startsWith(q)) return 1
  if (title.startsWith(q)) return 2
  return key.includes(q) || title.includes(q) ? 3 : 4
}

/** Tags whose value starts with the term, as readers report it or as labels show it. */
export async function searchTags(db: Db, orgId: number, q: string, limit: number): Promise<TagHit[]> {
  const queries = tagTypes.flatMap((type) => {
    const prefix = normalizedValue({ type, value: q })
    return prefix === ''
      ? []
      : [
          sql`(select t.id, t.tag_type, t.value, t.asset_id, t.location_id, t.normalized_value from tags t
            where t.org_id = ${orgId} and t.tag_type = ${type} and ${startsWith(sql`t.normalized_value`, prefix)}
            order by t.normalized_value limit ${limit})`,
        ]
  })
  if (queries.length === 0) return []
  const rows = await db.query<{
    id: number
    tag_type: TagType
    value: string
    asset_id: number | null
    location_id: number | null
    owner_key: string
    owner_name: string
  }>(sql`
    with found as (${join(queries, sql` union all `)})
    select f.id, f.tag_type, f.value, f.asset_id, f.location_id,
      coalesce(a.external_key, l.external_key) as owner_key, coalesce(a.name, l.name) as owner_name
    from found f left join assets a on a.org_id = ${orgId} and a.id = f.asset_id
    left join locations l on l.org_id = ${orgId} and l.id = f.location_id
    order by f.normalized_value, f.id limit ${limit}`)
  return rows.map((row) => ({
    id: row.id,
    type: row.tag_type,
    value: row.value,
    assetId: row.asset_id,
    locationId: row.location_id,
    ownerKey: row.owner_key,
    ownerName: row.owner_name,
  }))
}
