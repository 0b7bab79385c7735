import type { Logger } from 'pino'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { RunJob } from '../jobs/run-job.ts'
import { SecretBox } from '../kernel/secret-box.ts'
import { type OnDropped, type WebhookDeps, changeTopic } from '../webhooks/commands.ts'
import { retryDelaysMs } from '../webhooks/retry-schedule.ts'
import { GuardedConnector } from '../webhooks/ssrf-guard.ts'
import { type SendTest, testSender, timeoutMs } from '../webhooks/test-event.ts'
import { AttemptLog } from '../webhooks/delivery/attempt-log.ts'
import { Deliverer, type DelivererDeps } from '../webhooks/delivery/deliverer.ts'
import type { AppContext } from './context.ts'

const flushMs = 500

/** Timeouts and concurrency of deliveries. Tests override the defaults. */
export type Tuning = Pick<DelivererDeps, 'timeoutMs' | 'retryDelaysMs' | 'maxConcurrency' | 'maxInFlight' | 'sweepMs'>

const defaultTuning: Tuning = { timeoutMs, retryDelaysMs, maxConcurrency: 32, maxInFlight: 2000, sweepMs: 15_000 }

const secretBoxOf = (context: AppContext): SecretBox => new SecretBox(context.keys.secretKey, 'webhook secrets')

const targetOf = ({ config }: AppContext): GuardedConnector =>
  new GuardedConnector({ allowed: config.webhookAllow, ca: config.webhookCa, nameServers: config.webhookDns })

/** The dependencies of operator commands, which keep no metrics. */
export function webhookDeps(context: AppContext): WebhookDeps & { sendTest: SendTest } {
  const secretBox = secretBoxOf(context)
  const sendTest = testSender({ ...context, secretBox, target: targetOf(context) })
  return { ...context, secretBox, sendTest, onDropped: () => undefined }
}

export interface Webhooks {
  secretBox: SecretBox
  sendTest: SendTest
  onDropped: OnDropped
  /** Called when events may have been missed. */
  onMissedEvents: () => void
  stop(graceMs: number): Promise<void>
}

/** Wires webhook delivery. Only a process with the role `deliver` sends events. */
export function startWebhooks(
  context: AppContext,
  log: Logger,
  registry: Registry,
  runJob: RunJob,
  tuning: Partial<Tuning> = {},
): Webhooks {
  const { db, clock } = context
  const secretBox = secretBoxOf(context)
  const target = targetOf(context)
  const onDropped = dropCounter(log, registry)
  const deps = { secretBox, sendTest: testSender({ db, clock, secretBox, target }), onDropped }
  if (!context.config.roles.has('deliver'))
    return { ...deps, onMissedEvents: () => undefined, stop: async () => undefined }
  return {
    ...deps,
    ...startDelivering(context, log, registry, runJob, { ...defaultTuning, ...tuning, secretBox, target, onDropped }),
  }
}

function dropCounter(log: Logger, registry: Registry): OnDropped {
  const dropped = new Counter({
    name: 'lastseen_webhook_events_dropped_total',
    help: 'Events that were not delivered, by reason.',
    labelNames: ['reason'],
    registers: [registry],
  })
  return (reason, events) => {
    dropped.inc({ reason }, events)
    log.info({ event: 'webhook.dropped', reason, events }, 'webhook events dropped')
  }
}

function startDelivering(
  context: AppContext,
  log: Logger,
  registry: Registry,
  runJob: RunJob,
  deps: Tuning & Pick<DelivererDeps, 'secretBox' | 'target' | 'onDropped'>,
): Pick<Webhooks, 'onMissedEvents' | 'stop'> {
  const { db, clock, pubsub } = context
  const attempts = new Counter({
    name: 'lastseen_webhook_attempts_total',
    help: 'Requests to webhook endpoints, by outcome.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'lastseen_webhook_attempt_duration_seconds',
    help: 'Time from the start of a request to a webhook endpoint to its response or failure.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  const [delivered, failed] = [attempts.labels('delivered'), attempts.labels('failed')]
  const oldestAge = new Gauge({
    name: 'lastseen_webhook_oldest_event_age_seconds',
    help: 'Age of the oldest event that waits for delivery, every 15 seconds.',
    registers: [registry],
    aggregator: 'max',
  })
  const record = new AttemptLog(db.background)
  const deliverer = new Deliverer({
    db: db.background,
    clock,
    ...deps,
    onAttempt(orgId, webhookId, attempt) {
      if (attempt.isDelivered) delivered.inc()
      else failed.inc()
      durations.observe(attempt.durationMs / 1000)
      record.note(orgId, webhookId, attempt)
    },
    onSwept: (oldestAgeMs) => oldestAge.set(oldestAgeMs / 1000),
    runSweep: (sweep) => runJob('webhook-sweep', sweep),
    onFailure: (error) => log.warn({ event: 'webhook.claim-failed', err: error }, 'moves not claimed'),
  })
  new Gauge({
    name: 'lastseen_webhook_events_in_flight',
    help: 'Claimed events that are not finished.',
    registers: [registry],
    collect() {
      this.set(deliverer.inFlight)
    },
  })
  pubsub.on('moved', (payload) => {
    for (const id of payload.split(',')) deliverer.moved(Number(id))
  })
  pubsub.on(changeTopic, (payload) => deliverer.changed(Number(payload)))
  const flush = (): Promise<void> => runJob('webhook-attempts', () => record.flush())
  const timer = setInterval(() => void flush(), flushMs)
  timer.unref()
  deliverer.start()
  return {
    onMissedEvents: () => void deliverer.onMissedEvents(),
    async stop(graceMs) {
      clearInterval(timer)
      await deliverer.stop(graceMs)
      await flush()
    },
  }
}
