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
 * Creates the locations and assets of the site that do not exist yet. Readers are always created again, because a token is
 * known only at creation. Returns the token of each reader.
 */
export async function provisionSite(
  deps: RecordDeps,
  orgId: number,
  site: Site,
  format: string,
): Promise<Map<string, string>> {
  const at = now(deps.clock)
  const locations = await listLocations(deps.db.read, orgId, { ...everything, now: at }, {}, withoutPath)
  const locationIds = new Map(locations.rows.map((location) => [location.externalKey, location.id]))
  for (const { key, name, parentKey } of site.locations) {
    if (locationIds.has(key)) continue
    const draft = { externalKey: key, name, description: null, isActive: true, validTo: null, tags: [] }
    const location = await createLocation(deps, orgId, { ...draft, parent: { key: parentKey } })
    locationIds.set(key, location.id)
  }
  const assets = await listAssets(deps.db.read, orgId, { ...everything, now: at })
  const existingKeys = new Set(assets.rows.map((asset) => asset.externalKey))
  for (const { key, name, epc, mac } of site.assets) {
    if (existingKeys.has(key)) continue
    await createAsset(deps, orgId, {
      externalKey: key,
      name,
      description: null,
      isActive: true,
      validTo: null,
      metadata: { simulated: true },
      tags: [
        { type: 'rfid', value: epc },
        { type: 'ble', value: mac },
      ],
    })
  }
  return createReaders(deps, orgId, site, format, locationIds)
}

async function createReaders(
  deps: RecordDeps,
  orgId: number,
  site: Site,
  format: string,
  locationIds: ReadonlyMap<string, number>,
): Promise<Map<string, string>> {
  const names = new Set(site.points.map((point) => point.reader))
  const old = await listReaders(deps.db.read, orgId, { limit: 1_000_000, offset: 0 })
  for (const reader of old.rows) if (names.has(reader.name)) await removeReader(deps, orgId, reader.id)
  const tokens = new Map<string, string>()
  for (const name of names) {
    const points = site.points.filter((point) => point.reader === name)
    const scanPoints = points.map(({ antenna, locationKey }) => ({
      antenna,
      locationId: locationIds.get(locationKey) ?? null,
    }))
    const { token } = await createReader(deps, orgId, { name, format, clock: 'reader', scanPoints })
    tokens.set(name, token)
  }
  return tokens
}
