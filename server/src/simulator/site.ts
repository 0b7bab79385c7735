import { SeededRandom } from './seeded-random.ts'

interface SiteLocation {
  key: string
  name: string
  parentKey: string | null
}

/** A reader's antenna and the location that it covers. */
export interface SitePoint {
  area: string
  reader: string
  antenna: number
  locationKey: string
}

export interface SiteAsset {
  key: string
  name: string
  epc: string
  mac: string
}

export interface Site {
  locations: SiteLocation[]
  points: SitePoint[]
  assets: SiteAsset[]
}

const kinds = ['Pallet', 'Pallet jack', 'Forklift', 'Roll cage', 'Tote', 'Crate', 'Hand scanner', 'Ladder']

/** A warehouse with receiving docks, aisles of racks, packing benches and shipping docks. */
export function buildSite(seed: number, assetCount: number, hasAntennas: boolean): Site {
  const locations: SiteLocation[] = [{ key: 'SIM', name: 'Riverside warehouse', parentKey: null }]
  const points: SitePoint[] = []
  const zone = (key: string, name: string): string => {
    locations.push({ key, name, parentKey: 'SIM' })
    return key
  }
  // A reader with antennas covers a whole area; without antennas, there is one gateway per location.
  const addPoint = (area: string, parentKey: string, key: string, name: string): void => {
    locations.push({ key, name, parentKey })
    const antenna = hasAntennas ? points.filter((point) => point.area === area).length + 1 : 1
    points.push({ area, reader: hasAntennas ? area : name, antenna, locationKey: key })
  }
  const receiving = zone('SIM-RECEIVING', 'Receiving')
  for (let dock = 1; dock <= 4; dock++) addPoint('Receiving docks', receiving, `SIM-DOCK-${dock}`, `Dock ${dock}`)
  const storage = zone('SIM-STORAGE', 'Storage')
  for (const aisle of ['A', 'B', 'C', 'D']) {
    const key = `SIM-AISLE-${aisle}`
    locations.push({ key, name: `Aisle ${aisle}`, parentKey: storage })
    for (let rack = 1; rack <= 4; rack++)
      addPoint(`Aisle ${aisle}`, key, `SIM-RACK-${aisle}${rack}`, `Rack ${aisle}${rack}`)
  }
  const packing = zone('SIM-PACKING', 'Packing')
  for (let bench = 1; bench <= 3; bench++) addPoint('Packing benches', packing, `SIM-BENCH-${bench}`, `Bench ${bench}`)
  const shipping = zone('SIM-SHIPPING', 'Shipping')
  for (let dock = 5; dock <= 8; dock++) addPoint('Shipping docks', shipping, `SIM-DOCK-${dock}`, `Dock ${dock}`)

  const random = new SeededRandom(seed)
  const assets = Array.from({ length: assetCount }, (_, index): SiteAsset => {
    const number = String(index + 1).padStart(4, '0')
    return {
      key: `SIM-${number}`,
      name: `${random.pick(kinds)} ${number}`,
      epc: `E280${random.hex(20)}`,
      mac: `C${random.hex(11)}`,
    }
  })
  return { locations, points, assets }
}

/** The next position of an asset: usually onward through the warehouse, occasionally a random position. */
export function nextPoint(random: SeededRandom, site: Site, current: SitePoint | null): SitePoint {
  if (current === null) return random.pick(site.points.filter((point) => point.area === 'Receiving docks'))
  if (random.next() < 0.08) return random.pick(site.points)
  const onward: Record<string, string[]> = {
    'Receiving docks': ['Aisle A', 'Aisle B', 'Aisle C', 'Aisle D'],
    'Packing benches': ['Shipping docks', 'Shipping docks', 'Aisle A'],
    'Shipping docks': ['Receiving docks'],
  }
  const area = random.pick(onward[current.area] ?? ['Packing benches', current.area])
  return random.pick(site.points.filter((point) => point.area === area))
}
