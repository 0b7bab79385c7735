import type { FairQueue } from '../admission/fair-queue.ts'
import type { Database } from '../db/database.ts'
import type { Clock } from '../kernel/clock.ts'
import { type QuotaCheck, isQuotaReached } from '../kernel/quota.ts'
import { type Instant, instantFromMillis } from '../kernel/instant.ts'
import { type Traceparent, SpanKind, activeTraceparent, inRootSpan } from '../kernel/tracing.ts'
import { recordReads } from '../tracking/recording/record-reads.ts'
import type { Device } from '../readers/reader.ts'
import { type ReaderClock, observedAtResolver } from '../tracking/observed-time.ts'
import { type TagRead, minuteKey } from '../tracking/recording/tag-read.ts'
import { BackpressureError, BatchWriter } from './batch-writer.ts'
import { type Format, decode, isMalformed } from './decoders/index.ts'
import type { Decoded, Read } from './decoders/read.ts'
import type { Refusal, RefusalReason } from './reader-refusals.ts'

export interface Receipt {
  accepted: number
  ignored: number
}

export interface ReadOutcomes {
  accepted: number
  /** Reads of tags that are attached to no asset, or at antennas without a location. */
  unknown: number
  /** Reads that are older than the retention period. */
  expired: number
  /** Entries of the message that are not reads. */
  skipped: number
}

/** A read that was observed longer than this before its message arrived is late. */
const lateAfterMs = 60_000

export interface ReadIngestorDeps {
  db: Database
  clock: Clock
  /** Organizations share the slots for batches. */
  queue: FairQueue
  retentionDays: number
  quotas: Pick<QuotaCheck, 'assertMayRecord'>
  /** Called for every message when its reads are durable, or when it was discarded. */
  onRecorded: (device: Device, receipt: Receipt & { reads: readonly Read[]; warning: string | null }) => void
  /** Called for every message in a known format, with what became of its reads. */
  onCounted: (device: Device, outcomes: ReadOutcomes, lateReads: number) => void
  /** Called for every batch that was written. */
  onBatch: (reads: number, seconds: number) => void
  onMoved: (orgId: number) => void
  onUnknown: (device: Device, reads: readonly { read: Read; observedAt: Instant }[]) => void
  /** Called for every message over MQTT that is not recorded. */
  onRefused: (refusal: Pick<Refusal, 'reason' | 'device' | 'topic'>) => void
}

const maxMessageBytes = 1024 * 1024
const batchLimits = {
  batchSize: 1000,
  keysPerBatch: 500,
  keyOf: minuteKey,
  bytesPerTick: maxMessageBytes / 16,
  itemsPerCost: 10,
  maxWaitingBytes: 32 * maxMessageBytes,
  maxWaitingBytesPerTenant: 8 * maxMessageBytes,
}
/** The memory of a message in addition to its bytes. */
const messageOverheadBytes = 1024

interface ReceivedMessage {
  bytes: Uint8Array
  topic: string | null
  arrivedAtMs: number
  request: Traceparent | null
}

/**
 * A decoded message. Its reads are sorted by time, because a message may be written in several batches and the first read
 * of a minute counts.
 */
interface DecodedMessage {
  decoded: Decoded
  /** The reads within the retention period. */
  retained: ResolvedRead[]
}

interface ResolvedRead extends TagRead {
  read: Read
  /** The request that sent the read; null when it is not traced, and for MQTT. */
  request: Traceparent | null
}

/** The ingress for the messages of all readers and transports. */
export class ReadIngestor {
  readonly #deps: ReadIngestorDeps
  readonly #batches: BatchWriter<ResolvedRead, boolean>

  constructor(deps: ReadIngestorDeps) {
    this.#deps = deps
    this.#batches = new BatchWriter<ResolvedRead, boolean>(
      async (orgId, reads) => {
        await deps.quotas.assertMayRecord(orgId)
        const startedAt = performance.now()
        const { isKnown, moves } = await traceBatch(orgId, reads, () => recordReads(deps, orgId, reads))
        deps.onBatch(reads.length, (performance.now() - startedAt) / 1000)
        if (moves > 0) deps.onMoved(orgId)
        return isKnown
      },
      batchLimits,
      deps.queue,
    )
  }

  /** Bytes of messages that wait to be written. */
  get waitingBytes(): number {
    return this.#batches.waitingBytes
  }

  unknownReader(topic: string): void {
    this.#deps.onRefused({ reason: 'unknown_topic', device: null, topic })
  }

  /** Like `process`, for transports that would send a rejected message again and again. */
  async processOrDiscard(device: Device, bytes: Uint8Array, topic: string): Promise<void> {
    const isTooLarge = bytes.length > maxMessageBytes
    const reportRefusal = (reason: RefusalReason): void => this.#deps.onRefused({ reason, device, topic })
    const processed = isTooLarge
      ? null
      : await this.process(device, bytes, topic).catch((error: unknown) => {
          if (isQuotaReached(error)) return error
          if (error instanceof BackpressureError) reportRefusal('over_limit')
          throw error
        })
    if (isQuotaReached(processed)) {
      this.#deps.onRecorded(device, { accepted: 0, ignored: 1, reads: [], warning: processed.message })
      return reportRefusal('over_quota')
    }
    if (processed !== null) return
    const status = statusText(bytes)
    if (status !== null) return this.#deps.onRecorded(device, { accepted: 0, ignored: 0, reads: [], warning: status })
    const warning = isTooLarge ? 'A message was larger than 1 MiB' : 'A message was in no known format'
    this.#deps.onRecorded(device, { accepted: 0, ignored: 1, reads: [], warning })
    reportRefusal(isTooLarge ? 'too_large' : isMalformed(bytes) ? 'malformed' : 'unknown_format')
  }

  /** Decodes and records one message. Resolves when its reads are durable, with null when the format is unknown. */
  async process(device: Device, bytes: Uint8Array, topic: string | null): Promise<Receipt | null> {
    const arrivedAtMs = this.#deps.clock.millis()
    const request = activeTraceparent()
    const opened: { message: DecodedMessage | null } = { message: null }
    const isKnown = await this.#batches.add(device.orgId, {
      bytes: bytes.length + messageOverheadBytes,
      open: () => {
        opened.message = this.#open(device, { bytes, topic, arrivedAtMs, request })
        return opened.message?.retained ?? []
      },
    })
    if (opened.message === null) return null
    const { decoded, retained } = opened.message
    const unknown = retained.filter((_, index) => !isKnown[index])
    if (unknown.length > 0) this.#deps.onUnknown(device, unknown)
    const accepted = retained.length - unknown.length
    const receipt = { accepted, ignored: decoded.reads.length - accepted + decoded.skipped }
    const expired = decoded.reads.length - retained.length
    const lateBefore = instantFromMillis(arrivedAtMs - lateAfterMs)
    const late = retained.filter(({ observedAt }) => observedAt < lateBefore).length
    this.#deps.onCounted(device, { accepted, unknown: unknown.length, expired, skipped: decoded.skipped }, late)
    this.#deps.onRecorded(device, { ...receipt, reads: decoded.reads, warning: decoded.warnings[0] ?? null })
    return receipt
  }

  #open(device: Device, { bytes, topic, arrivedAtMs, request }: ReceivedMessage): DecodedMessage | null {
    const decoded = decode(device.format as Format | 'auto', bytes, topic)
    if (decoded === null) return null
    const oldest = instantFromMillis(arrivedAtMs - this.#deps.retentionDays * 86_400_000)
    const resolveObservedAt = observedAtResolver(arrivedAtMs, device.clock as ReaderClock, decoded.sentAt)
    const resolveRead = (read: Read): ResolvedRead => ({
      read,
      identities: [{ type: read.tagType, value: read.value }, ...read.alt],
      readerId: device.readerId,
      antenna: read.antenna,
      rssiDbm: read.rssiDbm,
      observedAt: resolveObservedAt(read.observedAt),
      request,
    })
    const retained = decoded.reads
      .map(resolveRead)
      .filter(({ observedAt }) => observedAt >= oldest)
      .sort((a, b) => ascending(a.observedAt, b.observedAt))
    return { decoded, retained }
  }
}

const ascending = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Connect and last-will messages are short plain texts such as "connection lost". */
function statusText(bytes: Uint8Array): string | null {
  if (bytes.length === 0 || bytes.length > 200) return null
  const text = Buffer.from(bytes).toString('utf8')
  return /^[\p{L}\p{N}\p{P}\p{Zs}]+$/u.test(text) && !/^[[{]/.test(text) ? text : null
}

/** A batch is a child of the request that sent its first read, and linked to the requests that sent the others. */
function traceBatch<Result>(
  orgId: number,
  reads: readonly ResolvedRead[],
  write: () => Promise<Result>,
): Promise<Result> {
  const first = reads[0]?.request ?? null
  return inRootSpan(
    () => ({
      name: 'record reads',
      kind: SpanKind.INTERNAL,
      attributes: { 'lastseen.org_id': orgId, 'lastseen.reads': reads.length },
      links: [...new Set(reads.flatMap(({ request }) => (request === null || request === first ? [] : request)))],
    }),
    write,
    first === null ? {} : { traceparent: first },
  )
}
