import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { ReadOutcomes } from '../ingest/read-ingestor.ts'

interface IngestMetrics {
  counted: (format: string, outcomes: ReadOutcomes, lateReads: number) => void
  refused: (transport: string, reason: string, format: string) => void
  batch: (reads: number, seconds: number) => void
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
  const refused = new Counter({
    name: 'lastseen_reader_refusals_total',
    help: 'Refused logins and messages of readers, by transport, reason and the format that the reader is set to.',
    labelNames: ['transport', 'reason', 'format'],
    registers,
  })
  const late = new Counter({
    name: 'lastseen_ingest_late_reads_total',
    help: 'Reads within the retention that were observed more than a minute before they arrived.',
    labelNames: ['format'],
    registers,
  })
  const batches = new Histogram({
    name: 'lastseen_ingest_batch_reads',
    help: 'Reads that were written in one transaction.',
    buckets: [1, 5, 10, 25, 50, 100, 250, 500, 1000],
    registers,
  })
  const batchDurations = new Histogram({
    name: 'lastseen_ingest_batch_duration_seconds',
    help: 'Time to write one batch of reads.',
    buckets: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  })
  return {
    counted(format, outcomes, lateReads) {
      messages.inc({ format })
      if (lateReads > 0) late.inc({ format }, lateReads)
      for (const [outcome, count] of Object.entries<number>({ ...outcomes }))
        if (count > 0) reads.inc({ format, outcome }, count)
    },
    refused: (transport, reason, format) => refused.inc({ transport, reason, format }),
    batch(count, seconds) {
      batches.observe(count)
      batchDurations.observe(seconds)
    },
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
