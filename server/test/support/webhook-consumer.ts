import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { type AssetMoved, verifyWebhook } from '../../../client/src/index.ts'
import { Authority } from './certificates.ts'
import { type ReceivedRequest, WebhookReceiver } from './webhook-receiver.ts'

const responseMs = 50
const waitMs = 60_000

/**
 * A program that receives webhooks over HTTPS and verifies them with the client. It rejects the first attempt of one
 * delivery in sixteen, so that retries are pending whenever a server process stops.
 */
export class WebhookConsumer {
  /** The moves that were accepted, in the order in which they were received. */
  readonly accepted: AssetMoved[] = []
  readonly #authority: Authority
  readonly #receiver: WebhookReceiver
  readonly #attempted = new Set<string>()
  #rejected = 0
  #secret = ''
  readonly #invalid: string[] = []

  private constructor(authority: Authority, receiver: WebhookReceiver) {
    this.#authority = authority
    this.#receiver = receiver
    receiver.behaviour = (response, received) =>
      void this.#respond(received).then((status) => response.writeHead(status).end())
  }

  static async open(): Promise<WebhookConsumer> {
    const authority = new Authority()
    return new WebhookConsumer(authority, await WebhookReceiver.open(authority.issue('IP:127.0.0.1')))
  }

  /** What a server process needs to deliver to this machine. */
  get settings(): Record<string, string> {
    return { LASTSEEN_WEBHOOK_ALLOW: '127.0.0.1', LASTSEEN_WEBHOOK_CA_FILE: this.#authority.caFile }
  }

  /** `run` runs an operator command and returns what it prints as JSON. */
  async register(run: (args: string[]) => Promise<unknown>, organization: string): Promise<void> {
    const url = `https://127.0.0.1:${this.#receiver.port}/moves`
    const created = await run(['webhook', 'create', '--org', organization, '--url', url])
    this.#secret = (created as { secret: string }).secret
  }

  /**
   * Accepted each of these moves exactly once. Duplicates are possible when an attempt times out, but this endpoint
   * answers every attempt.
   */
  async expectComplete(moves: readonly AssetMoved[]): Promise<void> {
    for (const end = Date.now() + waitMs; this.accepted.length < moves.length && Date.now() < end;) await sleep(50)
    expect(this.#invalid).toEqual([])
    const accepted = new Map(this.accepted.map((move) => [move.delivery_id, move]))
    const missed = moves.filter((move) => !accepted.has(move.delivery_id)).length
    expect({ missed, repeated: this.accepted.length - accepted.size }).toEqual({ missed: 0, repeated: 0 })
    expect(moves.map((move) => accepted.get(move.delivery_id))).toEqual(moves)
    expect(this.#rejected).toBeGreaterThan(0)
  }

  async close(): Promise<void> {
    await this.#receiver.close()
    this.#authority.remove()
  }

  async #respond({ headers, body }: ReceivedRequest): Promise<number> {
    try {
      const move = await verifyWebhook(this.#secret, { headers, body })
      await sleep(responseMs)
      if (move.delivery_id.startsWith('0') && !this.#attempted.has(move.delivery_id)) {
        this.#attempted.add(move.delivery_id)
        this.#rejected++
        return 503
      }
      this.accepted.push(move)
      return 204
    } catch (error) {
      this.#invalid.push((error as Error).message)
      return 401
    }
  }
}
