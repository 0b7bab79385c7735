import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { ReadOutcomes } from '../ingest/read-ingestor.ts'

interface IngestMetrics {
  counted: (format: string, outcomes: ReadOutcomes) => void
  rejected: (reason: string) => void
  batch: (reads: number) => void
  watchWaitingBytes: (waitingBytes: () => number) => void
}

/** The metrics of the messages and reads of readers. */
export function ingestMetrics(registry: Registry): IngestMetrics {
  const registers = [registry]
  const messages = new Counter({
    name: 'lastseen_ingest_messages_total',
    help: 'Messages in a known format, by the format that the reader is set to.',
    labelNames: ['format'],
    registers,
  })
  const reads = new Counter({
    name: 'lastseen_ingest_reads_total',
    help: 'Reads by format and outcome: accepted, unknown (tag or antenna), expired (older than the retention), skipped.',
    labelNames: ['format', 'outcome'],
    registers,
  })
  const rejected = new Counter({
    name: 'lastseen_ingest_messages_rejected_total',
    help: 'Messages without a known reader or format, by reason.',
    labelNames: ['reason'],
    registers,
  })
  const batches = new Histogram({
    name: 'lastseen_ingest_batch_reads',
    help: 'Reads that were written in one transaction.',
    buckets: [1, 5, 10, 25, 50, 100, 250],
    registers,
  })
  return {
    counted(format, outcomes) {
      messages.inc({ format })
      for (const [outcome, count] of Object.entries<number>({ ...outcomes }))
        if (count > 0) reads.inc({ format, outcome }, count)
    },
    rejected: (reason) => rejected.inc({ reason }),
    batch: (count) => batches.observe(count),
    watchWaitingBytes(waitingBytes) {
      new Gauge({
        name: 'lastseen_ingest_waiting_bytes',
        help: 'Bytes of messages that wait to be written.',
        registers,
        collect() {
          this.set(waitingBytes())
        },
      })
    },
  }
}
