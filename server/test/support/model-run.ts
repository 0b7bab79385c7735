import { expect } from 'vitest'
import { assetRepository } from '../../src/assets/assets.sql.ts'
import { changeAsset, deleteAsset } from '../../src/assets/commands.ts'
import { FairQueue } from '../../src/admission/fair-queue.ts'
import { ReadIngestor } from '../../src/ingest/read-ingestor.ts'
import { ApiError } from '../../src/kernel/errors.ts'
import { changeLocation, deleteLocation, renameLocation } from '../../src/locations/commands.ts'
import { recordOperatorSighting } from '../../src/tracking/recording/record-operator-sighting.ts'
import { attachTag, detachTag, getRecord, renameRecord } from '../../src/records/commands.ts'
import { changeReader } from '../../src/readers/commands.ts'
import { fromDatabase } from '../../src/kernel/instant.ts'
import { dwellPerLocation } from '../../src/tracking/report/dwell-and-flow.sql.ts'
import { assetHistory } from '../../src/tracking/history/history.sql.ts'
import { listLocationEvents } from '../../src/tracking/history/location-events.sql.ts'
import type { PastReportLimits } from '../../src/tracking/report/report-at.sql.ts'
import { assetLocations } from '../../src/tracking/report/report.sql.ts'
import { deleteDeparturesBefore, deleteMovesBefore } from '../../src/tracking/retention.sql.ts'
import { type ModelDatabase, assetIds, newModel } from './model-database.ts'
import { type ModelMessage, type TrackingModel, textOf } from './tracking-model.ts'
import { instant } from './tracking.ts'

export type Action =
  /** Timestamps are generated as microseconds relative to the time of sending; null means no timestamp. */
  | { kind: 'read'; reader: number; reads: { tag: string; antenna: number; offset: number | null }[] }
  | { kind: 'redeliver'; which: number }
  | { kind: 'save'; location: number; assets: number[] }
  | { kind: 'wait'; seconds: number }
  | { kind: 'delete location' | 'rename location' | 'name location'; id: number }
  | { kind: 'delete asset' | 'rename asset' | 'name asset'; id: number }
  | { kind: 'move tag'; tag: string; assetId: number }
  | { kind: 'point antenna'; reader: number; antenna: number; location: number | null }
  /** Deletes the moves that were recorded before the clock minus these seconds. */
  | { kind: 'delete moves'; ageSeconds: number; marginMs: number }

const accepted = async (work: Promise<unknown>): Promise<boolean> => {
  try {
    await work
    return true
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

/** A request for the report: its order, its filter and the size of its pages. */
export interface Question {
  isWithDeleted: boolean
  /** Microseconds relative to the clock; the current report without it. */
  atOffset: number | undefined
  locationIds: number[] | undefined
  sort: { field: 'asset_last_seen' | 'asset_external_key' | 'location_external_key'; descending: boolean }[]
  limit: number
  /** Reads so little at once that every way to find the page is taken. */
  limits: PastReportLimits | undefined
}

/** Applies every action to the service and to the model. */
export class ModelRun {
  readonly model: TrackingModel = newModel()
  readonly #database: ModelDatabase
  readonly #orgId: number
  readonly #ingestor: ReadIngestor
  readonly #sent: ModelMessage[] = []
  #names = 0

  constructor(world: ModelDatabase, orgId: number) {
    this.#database = world
    this.#orgId = orgId
    const quiet = (): void => undefined
    const output = { onRecorded: quiet, onMoved: quiet, onUnknown: quiet, onRefused: quiet }
    const queue = new FairQueue({ maxInFlight: 4 })
    this.#ingestor = new ReadIngestor({
      onCounted: () => undefined,
      onBatch: () => undefined,
      db: world.context.db,
      clock: world.context.clock,
      queue,
      retentionDays: 400,
      quotas: world.context.quotas,
      ...output,
    })
  }

  async perform(action: Action): Promise<void> {
    const { model } = this
    const { context } = this.#database
    const orgId = this.#orgId
    switch (action.kind) {
      case 'read': {
        const reads = action.reads.map(({ offset, ...rest }) => ({
          ...rest,
          timestamp: offset === null ? null : model.now + offset,
        }))
        this.#sent.push({ reader: action.reader, reads })
        return this.#deliver(this.#sent.at(-1)!)
      }
      case 'redeliver': {
        if (this.#sent.length === 0) return
        return this.#deliver(this.#sent[action.which % this.#sent.length]!)
      }
      case 'save': {
        const live = action.assets.filter((id) => !model.assets.get(id)!.isDeleted)
        if (live.length === 0 || model.locations.get(action.location)!.isDeleted) return
        model.save(action.location, live)
        const at = instant(textOf(model.now))
        await context.db.withTenant(orgId, (tx) => recordOperatorSighting(tx, orgId, action.location, live, at))
        return
      }
      case 'wait': {
        model.now += action.seconds * 1_000_000
        this.#database.clock.nowMs = model.now / 1000
        return
      }
      case 'delete location':
        expect(await accepted(deleteLocation(context, orgId, action.id))).toBe(model.deleteLocation(action.id))
        return
      case 'delete asset':
        expect(await accepted(deleteAsset(context, orgId, action.id))).toBe(model.deleteAsset(action.id))
        return
      case 'move tag':
        return this.#moveTag(action.tag, action.assetId)
      case 'delete moves': {
        const before = instant(textOf(model.now - action.ageSeconds * 1_000_000))
        for (const deleteBatch of [deleteMovesBefore, deleteDeparturesBefore])
          await context.db.withTenant(orgId, (tx) => deleteBatch(tx, orgId, before, action.marginMs))
        return
      }
      case 'point antenna':
        return this.#pointAntenna(action.reader, action.antenna, action.location)
      default:
        return this.#rename(action.kind, action.id)
    }
  }

  async #deliver(message: ModelMessage): Promise<void> {
    const reads = message.reads.map(({ tag, antenna, timestamp }) => ({
      tag,
      tag_type: 'barcode',
      antenna,
      ...(timestamp === null ? {} : { observed_at: textOf(timestamp) }),
    }))
    const device = {
      orgId: this.#orgId,
      readerId: message.reader,
      name: 'Gate',
      topicKey: '',
      format: 'generic',
      clock: 'reader',
    }
    const taken = await this.#ingestor.process(device, Buffer.from(JSON.stringify({ reads })), null)
    expect(taken).toEqual(this.model.read(message))
  }

  async #moveTag(tag: string, assetId: number): Promise<void> {
    const { context } = this.#database
    const owner = this.model.tags.get(tag)
    if (owner === assetId || this.model.assets.get(assetId)!.isDeleted) return
    if (owner != null) {
      const { tags } = await getRecord(context, assetRepository, this.#orgId, owner)
      await detachTag(context, assetRepository, this.#orgId, owner, tags.find((one) => one.value === tag)!.id)
    }
    await attachTag(context, assetRepository, this.#orgId, assetId, { type: 'barcode', value: tag })
    this.model.tags.set(tag, assetId)
  }

  async #pointAntenna(reader: number, antenna: number, location: number | null): Promise<void> {
    const { antennas, locations } = this.model
    if (location !== null && locations.get(location)!.isDeleted) return
    if (location === null) antennas.delete(`${reader} ${antenna}`)
    else antennas.set(`${reader} ${antenna}`, location)
    const scanPoints = [1, 2, 3].flatMap((one) => {
      const locationId = antennas.get(`${reader} ${one}`)
      return locationId === undefined || locations.get(locationId)!.isDeleted ? [] : [{ antenna: one, locationId }]
    })
    await changeReader(this.#database.context, this.#orgId, reader, { scanPoints })
  }

  async #rename(kind: 'rename asset' | 'name asset' | 'rename location' | 'name location', id: number): Promise<void> {
    const { context } = this.#database
    const record = kind.endsWith('asset') ? this.model.assets.get(id)! : this.model.locations.get(id)!
    const text = `${kind} ${++this.#names}`
    const change = {
      'rename asset': () => renameRecord(context, assetRepository, this.#orgId, id, text),
      'name asset': () => changeAsset(context, this.#orgId, id, { name: text }),
      'rename location': () => renameLocation(context, this.#orgId, id, text),
      'name location': () => changeLocation(context, this.#orgId, id, { name: text, parent: {} }),
    }
    expect(await accepted(change[kind]())).toBe(!record.isDeleted)
    if (record.isDeleted) return
    if (kind.startsWith('rename')) record.key = text
    else record.name = text
  }

  /** Compares all reads of the service with the model. */
  async compare(at: number): Promise<void> {
    const { db } = this.#database.context
    const everything = { limit: 200, offset: 0 }
    const trails = assetIds.map(async (id) => {
      const { rows, total } = await assetHistory(db.read, this.#orgId, id, { ...everything, descending: false })
      expect(rows).toEqual(this.model.history(id))
      expect(total).toBe(rows.length)
    })
    const questions = [{ isWithDeleted: false }, { isWithDeleted: true }, { isWithDeleted: true, at }]
    const reports = questions.map(async (question) => {
      const asked = {
        includeDeleted: question.isWithDeleted,
        at: question.at === undefined ? undefined : instant(textOf(question.at)),
        sort: [{ field: 'asset_external_key' as const, descending: false }],
        now: instant(textOf(this.model.now)),
      }
      const { rows, total } = await assetLocations(db.read, this.#orgId, { ...everything, ...asked })
      const shown = rows.map(({ assetDeletedAt, ...rest }) => ({ ...rest, isDeleted: assetDeletedAt !== null }))
      const byId = shown.toSorted((a, b) => a.assetId - b.assetId)
      expect(byId).toEqual(this.model.report(question))
      expect(total).toBe(rows.length)
    })
    await Promise.all([...trails, ...reports, this.#compareMoves()])
  }

  /** Compares all pages of a report with the model. */
  async compareReport({ atOffset, locationIds, sort, limit, limits, isWithDeleted }: Question): Promise<void> {
    const at = atOffset === undefined ? undefined : this.model.now + atOffset
    const expected = this.model.orderedReport({ isWithDeleted, locationIds, ...(at === undefined ? {} : { at }) }, sort)
    for (let offset = 0; offset <= expected.length; offset += limit) {
      const request = {
        ...{ limit, offset, sort, locationIds, includeDeleted: isWithDeleted },
        at: at === undefined ? undefined : instant(textOf(at)),
        now: instant(textOf(this.model.now)),
      }
      const { rows, total } = await assetLocations(this.#database.context.db.read, this.#orgId, request, limits)
      const shown = rows.map(({ assetDeletedAt, ...rest }) => ({ ...rest, isDeleted: assetDeletedAt !== null }))
      expect(shown).toEqual(expected.slice(offset, offset + limit))
      expect(total).toBe(expected.length)
    }
  }

  /** Compares all pages of a location's history with a plain query. */
  async compareLocationEvents(
    locationId: number,
    bounds: { fromOffset: number | undefined; toOffset: number | undefined },
    limit: number,
  ): Promise<void> {
    const at = (offset: number | undefined) =>
      offset === undefined ? undefined : instant(textOf(this.model.now + offset))
    const [from, to] = [at(bounds.fromOffset), at(bounds.toOffset)]
    const expected = await this.#database.sql`
      select event, asset_id::int as "assetId", other_id::int as "otherId", occurred_at::text as "occurredAt" from (
        select 'arrival' as event, asset_id, from_location_id as other_id, occurred_at, delivery_id from moves
        where org_id = ${this.#orgId} and to_location_id = ${locationId}
        union all
        select 'departure', asset_id, to_location_id, occurred_at, delivery_id from moves
        where org_id = ${this.#orgId} and from_location_id = ${locationId}
      ) e
      where date_trunc('milliseconds', occurred_at) >= date_trunc('milliseconds', ${from ?? '-infinity'}::text::timestamptz)
        and date_trunc('milliseconds', occurred_at) <= date_trunc('milliseconds', ${to ?? 'infinity'}::text::timestamptz)
      order by occurred_at desc, delivery_id`
    for (let offset = 0; offset <= expected.length; offset += limit) {
      const request = { limit, offset, from, to }
      const { rows, total } = await listLocationEvents(this.#database.context.db.read, this.#orgId, locationId, request)
      const shown = rows.map(({ event, assetId, otherId, occurredAt }) => ({ event, assetId, otherId, occurredAt }))
      const page = expected.slice(offset, offset + limit)
      expect(shown).toEqual(page.map((row) => ({ ...row, occurredAt: fromDatabase(row['occurredAt']) })))
      expect(total).toBe(expected.length)
    }
  }

  /** Compares dwell times with a query that evaluates the moves of every asset. */
  async compareDwell(fromOffset: number, toOffset: number): Promise<void> {
    const [from, to] = [fromOffset, toOffset].map((offset) => instant(textOf(this.model.now + offset)))
    const expected = await this.#database.sql`
      select location_id::int as "locationId", floor(sum(extract(epoch from stayed)) / 60)::int as minutes,
        count(distinct asset_id)::int as assets, count(*)::int as visits
      from (
        select m.asset_id, m.to_location_id as location_id,
          least(a.deleted_at, lead(m.occurred_at) over in_order, ${to!}::text::timestamptz)
            - greatest(m.occurred_at, ${from!}::text::timestamptz) as stayed
        from moves m join assets a on a.org_id = m.org_id and a.id = m.asset_id
        where m.org_id = ${this.#orgId}
        window in_order as (partition by m.asset_id order by m.occurred_at)
      ) s
      where stayed > interval '0' group by location_id`
    const rows = await dwellPerLocation(this.#database.context.db.read, this.#orgId, from!, to!, 64)
    const shown = rows.map(({ locationId, minutes, assets, visits }) => ({ locationId, minutes, assets, visits }))
    const inOrder = (all: readonly { locationId: number }[]) => all.toSorted((a, b) => a.locationId - b.locationId)
    expect(inOrder(shown)).toEqual(inOrder(expected.map((row) => ({ ...row }) as (typeof shown)[number])))
  }

  async #compareMoves(): Promise<void> {
    const shape = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'
    const rows = await this.#database.sql`
      select asset_id::int as "assetId", asset_external_key as "assetKey", asset_name as "assetName",
        from_location_id::int as "fromId", from_location_name as "fromName", to_location_id::int as "toId",
        to_location_name as "toName", to_char(occurred_at at time zone 'UTC', ${shape}) as "occurredAt",
        to_char(recorded_at at time zone 'UTC', ${shape}) as "recordedAt"
      from moves where org_id = ${this.#orgId}`
    const inOrder = (moves: readonly object[]): string[] => moves.map((move) => JSON.stringify(move)).toSorted()
    expect(inOrder([...rows])).toEqual(inOrder(this.model.moves))
  }
}
