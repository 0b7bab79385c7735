import { pipeline } from 'node:stream/promises'
import { openPool } from '../../server/dist/db/connect.js'

/** An id of Parse Server's length, made from the asset's. */
function objectId(id) {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(id))
  return bytes.subarray(1).toString('base64url')
}

/** What somebody who knows PostgreSQL gives the register: a unique key, which is also the order, and a search. */
const indexes = [
  'create extension if not exists pg_trgm',
  'create unique index asset_key on "Asset" (external_key)',
  'create index asset_search on "Asset" using gin (name gin_trgm_ops)',
]

/** Copies the assets a list of the service shows into Parse Server's table. Gives the sample with the ids they have there. */
export async function copyAssets({ from, to, orgId, sample }) {
  const source = openPool(from, 1)
  const target = openPool(to, 1, { maintenance_work_mem: '512MB', synchronous_commit: 'off' })
  try {
    // A copy takes no parameters.
    const rows = await source
      .unsafe(
        `copy (
      select rtrim(translate(encode(substr(int8send(a.id), 2), 'base64'), '+/', '-_'), '='), a.created_at,
        a.updated_at, a.external_key, a.name, a.description,
        a.metadata, a.is_active, a.valid_from, a.valid_to,
        coalesce((select jsonb_agg(jsonb_build_object('tag_type', t.tag_type, 'value', t.value))
          from tags t where t.org_id = a.org_id and t.asset_id = a.id), '[]')
      from assets a where a.org_id = ${Number(orgId)} and a.deleted_at is null
        and a.valid_from <= now() and (a.valid_to is null or a.valid_to > now())) to stdout`,
      )
      .readable()
    const into = await target`copy "Asset" ("objectId", "createdAt", "updatedAt", external_key, name, description,
      metadata, is_active, valid_from, valid_to, tags) from stdin`.writable()
    await pipeline(rows, into)
    for (const statement of indexes) await target.unsafe(statement)
    await target`vacuum analyze`
    await target`checkpoint`
    return { ...sample, ids: sample.ids.map(objectId) }
  } finally {
    await source.end({ timeout: 5 })
    await target.end({ timeout: 5 })
  }
}
