import type postgres from 'postgres'

/** Inserts assets 1 to `count` with one tag each. `owner` is an SQL expression of the asset's number `n`. */
export async function insertAssets(admin: postgres.Sql, owner: postgres.PendingQuery<postgres.Row[]>, count: number) {
  await admin`
    insert into assets (org_id, id, external_key, name, metadata, type, is_active, valid_from, created_at, updated_at,
      search_text)
    select ${owner}, n, 'K' || n, 'N' || n, '{}', 'asset', true, now(), now(), now(), 'k' || n
    from generate_series(1, ${count}) n`
  await admin`
    insert into tags (org_id, id, asset_id, tag_type, value, normalized_value, created_at)
    select ${owner}, n, n, 'barcode', 'T' || n, 'T' || n, now() from generate_series(1, ${count}) n`
}
