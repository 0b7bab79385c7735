import type { TenantKey } from './fair-queue.ts'

export interface ByteBudgetOptions {
  /** The bytes that all tenants together may hold. */
  maxBytes: number
  /** The bytes that one tenant may hold. */
  maxBytesPerTenant: number
}

/** Limits the memory for what clients send or receive slowly: in total, and for each organization or client address. */
export class ByteBudget {
  readonly #options: ByteBudgetOptions
  readonly #reserved = new Map<object, { tenant: TenantKey; bytes: number }>()
  readonly #byTenant = new Map<TenantKey, number>()
  #total = 0

  constructor(options: ByteBudgetOptions) {
    this.#options = options
  }

  /**
   * Sets the bytes that a request or connection holds; 0 for none. Returns false when a limit would be exceeded; the owner
   * then holds nothing.
   */
  hold(owner: object, tenant: TenantKey, bytes: number): boolean {
    if ((this.#reserved.get(owner)?.bytes ?? 0) === bytes) return true
    this.release(owner)
    if (bytes === 0) return true
    const { maxBytes, maxBytesPerTenant } = this.#options
    const tenantBytes = (this.#byTenant.get(tenant) ?? 0) + bytes
    if (tenantBytes > maxBytesPerTenant || this.#total + bytes > maxBytes) return false
    this.#reserved.set(owner, { tenant, bytes })
    this.#byTenant.set(tenant, tenantBytes)
    this.#total += bytes
    return true
  }

  release(owner: object): void {
    const entry = this.#reserved.get(owner)
    if (entry === undefined) return
    const { tenant, bytes } = entry
    const tenantBytes = this.#byTenant.get(tenant)! - bytes
    if (tenantBytes === 0) this.#byTenant.delete(tenant)
    else this.#byTenant.set(tenant, tenantBytes)
    this.#reserved.delete(owner)
    this.#total -= bytes
  }
}
