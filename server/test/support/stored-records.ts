import type { Sql } from 'postgres'
import type { AssetMoved } from '../../../client/src/index.ts'

/** What the service has stored, in the form in which clients know it. */
export interface StoredRecords {
  /** The external keys of the assets that begin with `C-`, sorted. */
  created: string[]
  /** The reads of each asset by time: the time and the name of the location. */
  reads: Map<string, string[]>
  /** The moves in the order in which they were recorded. */
  moves: AssetMoved[]
}

interface MoveColumns {
  delivery_id: string
  occurred_at: Date
  asset: AssetMoved['data']['asset']
  from_location: AssetMoved['data']['from_location']
  to_location: AssetMoved['data']['to_location']
}

/** Reads the records of an installation with one organization. */
export async function storedRecords(sql: Sql): Promise<StoredRecords> {
  const created = await sql<{ key: string }[]>`select external_key as key from assets where external_key like 'C-%'`
  const minutes = await sql<{ key: string; at: Date; location: string }[]>`
    select a.external_key as key, m.observed_at as at, l.name as location from asset_minutes m
    join assets a on a.org_id = m.org_id and a.id = m.asset_id
    join locations l on l.org_id = m.org_id and l.id = m.location_id order by m.observed_at`
  const reads = new Map<string, string[]>()
  for (const { key, at, location } of minutes) {
    const ofAsset = reads.get(key) ?? []
    ofAsset.push(`${at.toISOString()} ${location}`)
    reads.set(key, ofAsset)
  }
  const moves = await sql<MoveColumns[]>`
    select delivery_id, occurred_at,
      json_build_object('id', asset_id, 'external_key', asset_external_key, 'name', asset_name) as asset,
      case when from_location_id is not null
        then json_build_object('id', from_location_id, 'name', from_location_name) end as from_location,
      json_build_object('id', to_location_id, 'name', to_location_name) as to_location
    from moves order by recorded_at, occurred_at`
  return {
    created: created.map(({ key }) => key).sort(),
    reads,
    moves: moves.map(({ delivery_id, occurred_at, ...data }) => ({
      event: 'asset.moved',
      delivery_id,
      occurred_at: occurred_at.toISOString(),
      data,
    })),
  }
}
