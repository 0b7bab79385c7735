import type { Logger } from 'pino'
import { Counter, Gauge, type Registry } from 'prom-client'
import { Seal } from '../kernel/sealed.ts'
import { type OnDropped, type WebhookNeeds, changeTopic } from '../webhooks/commands.ts'
import { retryDelaysMs } from '../webhooks/retry-schedule.ts'
import { Target } from '../webhooks/target.ts'
import { type SendTest, testSender, timeoutMs } from '../webhooks/test-event.ts'
import { AttemptLog } from '../worker/attempt-log.ts'
import { Deliverer, type DelivererDeps } from '../worker/deliver.ts'
import type { Core } from './core.ts'

const flushMs = 500

/** How hard deliveries are driven. The server takes these; benchmarks and tests may take others. */
export type Tuning = Pick<DelivererDeps, 'timeoutMs' | 'retryDelaysMs' | 'maxConcurrency' | 'maxInFlight' | 'sweepMs'>

const usual: Tuning = { timeoutMs, retryDelaysMs, maxConcurrency: 32, maxInFlight: 2000, sweepMs: 15_000 }

const sealOf = (core: Core): Seal => new Seal(core.keys.secretKey, 'webhook secrets')

const targetOf = ({ config }: Core): Target =>
  new Target({ allowed: config.webhookAllow, ca: config.webhookCa, nameServers: config.webhookDns })

/** What an operator's command needs: it counts nothing. */
export function webhookNeeds(core: Core): WebhookNeeds & { sendTest: SendTest } {
  const seal = sealOf(core)
  const sendTest = testSender({ ...core, seal, target: targetOf(core) })
  return { ...core, seal, sendTest, onDropped: () => undefined }
}

export interface Webhooks {
  seal: Seal
  sendTest: SendTest
  onDropped: OnDropped
  /** News may have been missed. */
  missedNews: () => void
  stop(graceMs: number): Promise<void>
}

/** Wires everything between a recorded move and the organization's endpoint; only one that has the role delivers. */
export function startWebhooks(core: Core, log: Logger, registry: Registry, tuning: Partial<Tuning> = {}): Webhooks {
  const { db, clock } = core
  const seal = sealOf(core)
  const target = targetOf(core)
  const onDropped = dropCounter(log, registry)
  const needs = { seal, sendTest: testSender({ db, clock, seal, target }), onDropped }
  if (!core.config.roles.has('deliver')) return { ...needs, missedNews: () => undefined, stop: async () => undefined }
  return { ...needs, ...startDelivering(core, log, registry, { ...usual, ...tuning, seal, target, onDropped }) }
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
  core: Core,
  log: Logger,
  registry: Registry,
  needs: Tuning & Pick<DelivererDeps, 'seal' | 'target' | 'onDropped'>,
): Pick<Webhooks, 'missedNews' | 'stop'> {
  const { db, clock, wake } = core
  const attempts = new Counter({
    name: 'lastseen_webhook_attempts_total',
    help: 'Requests to webhook endpoints, by outcome.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const [delivered, failed] = [attempts.labels('delivered'), attempts.labels('failed')]
  const record = new AttemptLog(db.background)
  const deliverer = new Deliverer({
    db: db.background,
    clock,
    ...needs,
    onAttempt(orgId, webhookId, attempt) {
      if (attempt.isDelivered) delivered.inc()
      else failed.inc()
      record.note(orgId, webhookId, attempt)
    },
    onFailure: (error) => log.warn({ event: 'chore.failed', chore: 'webhooks', err: error }, 'chore failed'),
  })
  new Gauge({
    name: 'lastseen_webhook_events_held',
    help: 'Events that are claimed and not finished.',
    registers: [registry],
    collect() {
      this.set(deliverer.inFlight)
    },
  })
  wake.on('moved', (payload) => {
    for (const id of payload.split(',')) deliverer.moved(Number(id))
  })
  wake.on(changeTopic, (payload) => deliverer.changed(Number(payload)))
  const flush = (): Promise<void> =>
    record.flush().catch((error: unknown) => log.warn({ event: 'chore.failed', chore: 'attempts', err: error }))
  const timer = setInterval(() => void flush(), flushMs)
  timer.unref()
  deliverer.start()
  return {
    missedNews: () => void deliverer.missedNews(),
    async stop(graceMs) {
      clearInterval(timer)
      await deliverer.stop(graceMs)
      await flush()
    },
  }
}
