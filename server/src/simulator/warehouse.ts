import { createAsset } from '../assets/commands.ts'
import { listAssets } from '../assets/assets.sql.ts'
import { now } from '../kernel/clock.ts'
import { createLocation } from '../locations/commands.ts'
import { listLocations, withoutPath } from '../locations/locations.sql.ts'
import { createReader, removeReader } from '../readers/commands.ts'
import { listReaders } from '../readers/readers.sql.ts'
import type { RecordDeps } from '../records/record.ts'
import type { Site } from './site.ts'

const everything = { limit: 1_000_000, offset: 0, sort: [], filter: {} }

/**
 * Puts the site into the organization, or finds what is there of it already. Readers are made anew, because their tokens
 * are known only when they are made. Returns each reader's token.
 */
export async function provisionSite(
  deps: RecordDeps,
  orgId: number,
  site: Site,
  format: string,
): Promise<Map<string, string>> {
  const at = now(deps.clock)
  const places = await listLocations(deps.db.read, orgId, { ...everything, now: at }, {}, withoutPath)
  const placeIds = new Map(places.rows.map((place) => [place.externalKey, place.id]))
  for (const { key, name, parentKey } of site.places) {
    if (placeIds.has(key)) continue
    const draft = { externalKey: key, name, description: null, isActive: true, validTo: null, tags: [] }
    const made = await createLocation(deps, orgId, { ...draft, parent: { key: parentKey } })
    placeIds.set(key, made.id)
  }
  const assets = await listAssets(deps.db.read, orgId, { ...everything, now: at })
  const known = new Set(assets.rows.map((asset) => asset.externalKey))
  for (const { key, name, epc, mac } of site.assets) {
    if (known.has(key)) continue
    await createAsset(deps, orgId, {
      ...{ externalKey: key, name, description: null, isActive: true, validTo: null, metadata: { simulated: true } },
      tags: [
        { type: 'rfid', value: epc },
        { type: 'ble', value: mac },
      ],
    })
  }
  return makeReaders(deps, orgId, site, format, placeIds)
}

async function makeReaders(
  deps: RecordDeps,
  orgId: number,
  site: Site,
  format: string,
  placeIds: ReadonlyMap<string, number>,
): Promise<Map<string, string>> {
  const names = new Set(site.points.map((point) => point.reader))
  const old = await listReaders(deps.db.read, orgId, { limit: 1_000_000, offset: 0 })
  for (const reader of old.rows) if (names.has(reader.name)) await removeReader(deps, orgId, reader.id)
  const tokens = new Map<string, string>()
  for (const name of names) {
    const points = site.points.filter((point) => point.reader === name)
    const scanPoints = points.map(({ antenna, placeKey }) => ({ antenna, locationId: placeIds.get(placeKey) ?? null }))
    const { token } = await createReader(deps, orgId, { name, format, clock: 'reader', scanPoints })
    tokens.set(name, token)
  }
  return tokens
}
