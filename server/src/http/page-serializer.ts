import { ByteBudget } from '../admission/byte-budget.ts'
import { FairQueue, type TenantKey } from '../admission/fair-queue.ts'
import { apiError } from '../kernel/errors.ts'
import { toJsonText } from '../kernel/json.ts'

/** The records of a page that are serialized in one event-loop tick have about this many characters. */
const lengthPerTick = 64 * 1024

/** The memory for large responses that are serialized or that clients have not received, per process. */
export const pageMemory = { maxBytes: 128 * 2 ** 20, maxBytesPerTenant: 32 * 2 ** 20 }

const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const isPage = (body: object): body is { data: readonly unknown[] } => 'data' in body && Array.isArray(body.data)

/** Serializes responses. The owner of a large one holds memory of the budget until it releases it. */
export class PageSerializer {
  /** Lets one large page of all tenants continue at a time. */
  readonly #queue = new FairQueue({ maxInFlight: 1 })
  readonly #budget = new ByteBudget(pageMemory)

  /**
   * Serializes a response; a Buffer is one already. A page may hold 200 records of 64 KiB and more each, so a large one is
   * serialized in parts, between which other requests continue.
   */
  async serialize(body: object, tenant: TenantKey, owner: object): Promise<string | Buffer> {
    if (Buffer.isBuffer(body)) {
      if (body.length > lengthPerTick) this.#hold(owner, tenant, body.length)
      return body
    }
    if (!isPage(body)) return toJsonText(body)
    const { data, ...rest } = body
    const parts: Buffer[] = []
    const start = '{"data":['
    let text = start
    let index = 0
    const appendRecords = (): void => {
      for (; index < data.length && text.length < lengthPerTick; index++)
        text += (index === 0 ? '' : ',') + toJsonText(data[index])
    }
    appendRecords()
    if (index < data.length) {
      const averageLength = (text.length - start.length) / index
      this.#hold(owner, tenant, Math.ceil(averageLength * data.length))
      await this.#queue.run(tenant, 1, async () => {
        while (index < data.length) {
          parts.push(Buffer.from(text))
          text = ''
          await nextTick()
          appendRecords()
        }
      })
    }
    const others = toJsonText(rest).slice(1)
    text += (others === '}' ? ']' : '],') + others
    if (parts.length === 0) return text
    const page = Buffer.concat([...parts, Buffer.from(text)])
    this.#hold(owner, tenant, page.length)
    return page
  }

  /** The client has received the response, or is gone. */
  release(owner: object): void {
    this.#budget.release(owner)
  }

  /** Throws when too much is in memory. A response that is larger than the share of a tenant takes all of it. */
  #hold(owner: object, tenant: TenantKey, bytes: number): void {
    if (!this.#budget.hold(owner, tenant, Math.min(bytes, pageMemory.maxBytesPerTenant))) throw apiError.busy()
  }
}
