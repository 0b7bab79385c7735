import type { TenantKey } from './fair-queue.ts'

export interface ByteBudgetOptions {
  /** The bytes that all tenants together may hold. */
  maxBytes: number
  /** The bytes that one tenant may hold. */
  maxBytesPerTenant: number
}

/** Limits the memory for what clients have begun to send: in total, and for each organization or client address. */
export class ByteBudget {
  readonly #options: ByteBudgetOptions
  readonly #holders = new Map<object, { tenant: TenantKey; bytes: number }>()
  readonly #byTenant = new Map<TenantKey, number>()
  #total = 0

  constructor(options: ByteBudgetOptions) {
    this.#options = options
  }

  /**
   * Sets the bytes that a request or connection holds; 0 for none. Returns false when a limit would be exceeded; the holder
   * then holds nothing.
   */
  hold(holder: object, tenant: TenantKey, bytes: number): boolean {
    if ((this.#holders.get(holder)?.bytes ?? 0) === bytes) return true
    this.release(holder)
    if (bytes === 0) return true
    const { maxBytes, maxBytesPerTenant } = this.#options
    const tenantBytes = (this.#byTenant.get(tenant) ?? 0) + bytes
    if (tenantBytes > maxBytesPerTenant || this.#total + bytes > maxBytes) return false
    this.#holders.set(holder, { tenant, bytes })
    this.#byTenant.set(tenant, tenantBytes)
    this.#total += bytes
    return true
  }

  release(holder: object): void {
    const held = this.#holders.get(holder)
    if (held === undefined) return
    const { tenant, bytes } = held
    const tenantBytes = this.#byTenant.get(tenant)! - bytes
    if (tenantBytes === 0) this.#byTenant.delete(tenant)
    else this.#byTenant.set(tenant, tenantBytes)
    this.#holders.delete(holder)
    this.#total -= bytes
  }
}
