import { SeededRandom } from './seeded-random.ts'

interface SitePlace {
  key: string
  name: string
  parentKey: string | null
}

/** A reader's antenna and the place it looks at. */
export interface SitePoint {
  area: string
  reader: string
  antenna: number
  placeKey: string
}

export interface SiteAsset {
  key: string
  name: string
  epc: string
  mac: string
}

export interface Site {
  places: SitePlace[]
  points: SitePoint[]
  assets: SiteAsset[]
}

const kinds = ['Pallet', 'Pallet jack', 'Forklift', 'Roll cage', 'Tote', 'Crate', 'Hand scanner', 'Ladder']

/** A warehouse one could walk through: docks to come in by, aisles of racks, packing benches, docks to leave by. */
export function buildSite(seed: number, assetCount: number, hasAntennas: boolean): Site {
  const places: SitePlace[] = [{ key: 'SIM', name: 'Riverside warehouse', parentKey: null }]
  const points: SitePoint[] = []
  const zone = (key: string, name: string): string => {
    places.push({ key, name, parentKey: 'SIM' })
    return key
  }
  // A gateway without antennas hangs at each place; a reader with antennas watches a whole area.
  const watched = (area: string, parentKey: string, key: string, name: string): void => {
    places.push({ key, name, parentKey })
    const antenna = hasAntennas ? points.filter((point) => point.area === area).length + 1 : 1
    points.push({ area, reader: hasAntennas ? area : name, antenna, placeKey: key })
  }
  const receiving = zone('SIM-RECEIVING', 'Receiving')
  for (let dock = 1; dock <= 4; dock++) watched('Receiving docks', receiving, `SIM-DOCK-${dock}`, `Dock ${dock}`)
  const storage = zone('SIM-STORAGE', 'Storage')
  for (const aisle of ['A', 'B', 'C', 'D']) {
    const key = `SIM-AISLE-${aisle}`
    places.push({ key, name: `Aisle ${aisle}`, parentKey: storage })
    for (let rack = 1; rack <= 4; rack++)
      watched(`Aisle ${aisle}`, key, `SIM-RACK-${aisle}${rack}`, `Rack ${aisle}${rack}`)
  }
  const packing = zone('SIM-PACKING', 'Packing')
  for (let bench = 1; bench <= 3; bench++) watched('Packing benches', packing, `SIM-BENCH-${bench}`, `Bench ${bench}`)
  const shipping = zone('SIM-SHIPPING', 'Shipping')
  for (let dock = 5; dock <= 8; dock++) watched('Shipping docks', shipping, `SIM-DOCK-${dock}`, `Dock ${dock}`)

  const chance = new SeededRandom(seed)
  const assets = Array.from({ length: assetCount }, (_, index): SiteAsset => {
    const number = String(index + 1).padStart(4, '0')
    return {
      key: `SIM-${number}`,
      name: `${chance.pick(kinds)} ${number}`,
      epc: `E280${chance.hex(20)}`,
      mac: `C${chance.hex(11)}`,
    }
  })
  return { places, points, assets }
}

/** Where a thing goes next: mostly it stays; otherwise on through the building, now and then somewhere unexpected. */
export function nextPoint(chance: SeededRandom, site: Site, current: SitePoint | null): SitePoint {
  if (current === null) return chance.pick(site.points.filter((point) => point.area === 'Receiving docks'))
  if (chance.next() < 0.08) return chance.pick(site.points)
  const onward: Record<string, string[]> = {
    'Receiving docks': ['Aisle A', 'Aisle B', 'Aisle C', 'Aisle D'],
    'Packing benches': ['Shipping docks', 'Shipping docks', 'Aisle A'],
    'Shipping docks': ['Receiving docks'],
  }
  const area = chance.pick(onward[current.area] ?? ['Packing benches', current.area])
  return chance.pick(site.points.filter((point) => point.area === area))
}
