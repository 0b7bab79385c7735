/** The tracking rules in their plainest form: one read after the other, everything in memory, times in microseconds. */

const second = 1_000_000
const day = 86_400 * second

const minuteOf = (at: number): number => Math.floor(at / (60 * second))

export const textOf = (at: number): string => {
  const millis = Math.floor(at / 1000)
  return `${new Date(millis).toISOString().slice(0, 23)}${String(at - millis * 1000).padStart(3, '0')}Z`
}

interface ModelRead {
  tag: string
  antenna: number
  /** Null for a read without a timestamp. */
  timestamp: number | null
}

export interface ModelMessage {
  reader: number
  reads: readonly ModelRead[]
}

interface Row {
  observedAt: number
  locationId: number | null
}

interface ModelAsset {
  id: number
  key: string
  name: string
  isDeleted: boolean
  minutes: Map<number, Row>
  /** The minute the asset was last seen in. */
  last: (Row & { minute: number }) | null
}

interface ModelPosition {
  assetId: number
  assetKey: string
  locationId: number | null
  locationKey: string | null
  isDeleted: boolean
  lastSeenAt: string
}

interface ModelLocation {
  id: number
  key: string
  name: string
  isDeleted: boolean
}

export class TrackingModel {
  /** The server's clock. */
  now: number
  readonly assets: Map<number, ModelAsset>
  readonly locations: Map<number, ModelLocation>
  readonly tags: Map<string, number | null>
  /** `reader antenna` → the id of its location. */
  readonly antennas: Map<string, number>
  readonly moves: object[] = []

  constructor(start: {
    now: number
    assets: readonly { id: number; key: string; name: string }[]
    locations: readonly { id: number; key: string; name: string }[]
    tags: readonly [tag: string, assetId: number][]
    antennas: readonly [point: string, locationId: number][]
  }) {
    this.now = start.now
    this.assets = new Map(
      start.assets.map((one) => [one.id, { ...one, isDeleted: false, minutes: new Map<number, Row>(), last: null }]),
    )
    this.locations = new Map(start.locations.map((one) => [one.id, { ...one, isDeleted: false }]))
    this.tags = new Map(start.tags)
    this.antennas = new Map(start.antennas)
  }

  #live(locationId: number | null | undefined): ModelLocation | null {
    const location = locationId == null ? undefined : this.locations.get(locationId)
    return location === undefined || location.isDeleted ? null : location
  }

  /** Applies one message; its reads may be in any order of time. */
  read({ reader, reads }: ModelMessage): { accepted: number; ignored: number } {
    const resolved = reads.map((read) => {
      const isPlausible = read.timestamp !== null && read.timestamp <= this.now + 120 * second
      return { ...read, observedAt: isPlausible ? read.timestamp! : this.now }
    })
    const known = resolved.filter((read) => read.observedAt >= this.now - 400 * day && this.tags.get(read.tag) != null)
    for (const read of known.toSorted((a, b) => a.observedAt - b.observedAt)) {
      const asset = this.assets.get(this.tags.get(read.tag)!)!
      const location = this.#live(this.antennas.get(`${reader} ${read.antenna}`))
      const minute = minuteOf(read.observedAt)
      if (asset.minutes.has(minute)) continue
      const row = { observedAt: read.observedAt, locationId: location?.id ?? null }
      asset.minutes.set(minute, row)
      if (asset.last === null || minute > asset.last.minute) this.#arrive(asset, minute, row)
    }
    return { accepted: known.length, ignored: reads.length - known.length }
  }

  /** Records that an operator sees these assets at the location now. */
  save(locationId: number, assetIds: readonly number[]): void {
    for (const id of new Set(assetIds)) {
      const asset = this.assets.get(id)!
      const own = minuteOf(this.now)
      const isAhead = asset.last !== null && asset.last.minute > own
      const minute = isAhead ? asset.last!.minute : own
      const row = { observedAt: isAhead ? minute * 60 * second : this.now, locationId }
      const held = asset.minutes.get(minute)
      if (held !== undefined && held.locationId === locationId) continue
      asset.minutes.set(minute, row)
      this.#arrive(asset, minute, row)
    }
  }

  #arrive(asset: ModelAsset, minute: number, row: Row): void {
    const to = this.#live(row.locationId)
    if (to !== null && to.id !== asset.last?.locationId) {
      const from = this.#live(asset.last?.locationId)
      this.moves.push({
        assetId: asset.id,
        assetKey: asset.key,
        assetName: asset.name,
        fromId: from?.id ?? null,
        fromName: from?.name ?? null,
        toId: to.id,
        toName: to.name,
        occurredAt: textOf(row.observedAt),
        recordedAt: textOf(this.now),
      })
    }
    asset.last = { ...row, minute }
  }

  /** Returns false when an asset is at the location or the location is already deleted. */
  deleteLocation(id: number): boolean {
    const location = this.locations.get(id)!
    const isTaken = [...this.assets.values()].some((asset) => !asset.isDeleted && asset.last?.locationId === id)
    if (isTaken || location.isDeleted) return false
    return (location.isDeleted = true)
  }

  deleteAsset(id: number): boolean {
    const asset = this.assets.get(id)!
    if (asset.isDeleted) return false
    for (const [tag, owner] of this.tags) if (owner === id) this.tags.set(tag, null)
    return (asset.isDeleted = true)
  }

  history(assetId: number): object[] {
    const rows = [...this.assets.get(assetId)!.minutes].toSorted(([a], [b]) => a - b).map(([, row]) => row)
    return rows.map(({ observedAt, locationId }, index) => ({
      observedAt: textOf(observedAt),
      locationId,
      locationKey: this.#live(locationId)?.key ?? null,
      durationSeconds: index === 0 ? null : Math.floor((observedAt - rows[index - 1]!.observedAt) / second),
    }))
  }

  /** Where every scanned asset is, or was at an instant; times are compared at the millisecond they show. */
  report(options: { isWithDeleted: boolean; at?: number }): ModelPosition[] {
    const { at = Infinity } = options
    const included = [...this.assets.values()].filter((asset) => options.isWithDeleted || !asset.isDeleted)
    return included.flatMap((asset) => {
      const known = [...asset.minutes]
        .filter(([, row]) => Math.floor(row.observedAt / 1000) <= at / 1000)
        .toSorted(([a], [b]) => a - b)
      const row = known.at(-1)?.[1]
      if (row === undefined) return []
      const location = this.#live(row.locationId)
      return [
        {
          assetId: asset.id,
          assetKey: asset.key,
          locationId: location?.id ?? null,
          locationKey: location?.key ?? null,
          isDeleted: asset.isDeleted,
          lastSeenAt: textOf(row.observedAt),
        },
      ]
    })
  }

  /** The report with a filter by location, in the order of the request. */
  orderedReport(
    question: { isWithDeleted: boolean; at?: number; locationIds?: readonly number[] | undefined },
    sort: readonly { field: keyof typeof sortFields; descending: boolean }[],
  ): ModelPosition[] {
    const rows = this.report(question).filter(
      ({ locationId }) => !question.locationIds || (locationId !== null && question.locationIds.includes(locationId)),
    )
    const last = sort.at(-1)
    const idSign = last?.field === 'asset_last_seen' && !last.descending ? -1 : 1
    const compare = (a: ModelPosition, b: ModelPosition): number => {
      for (const { field, descending } of sort) {
        const [left, right] = [a[sortFields[field]], b[sortFields[field]]]
        // No value comes after every value.
        const order = left === right ? 0 : left === null ? 1 : right === null || left < right ? -1 : 1
        if (order !== 0) return descending ? -order : order
      }
      return idSign * (a.assetId - b.assetId)
    }
    return rows.toSorted(compare)
  }
}

const sortFields = {
  asset_last_seen: 'lastSeenAt',
  asset_external_key: 'assetKey',
  location_external_key: 'locationKey',
} as const
