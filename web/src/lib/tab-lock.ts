import { sleep } from './sleep.ts'

const leaseMs = 15_000
const pollMs = 60

/**
 * Runs the work while no other tab runs work under the same name. Browsers offer the Web Locks API only to secure
 * origins. On plain HTTP an entry in the local storage is the lock; it expires in case the tab that holds it is closed.
 */
export async function withTabLock<T>(name: string, work: () => Promise<T>): Promise<T> {
  const locks = (navigator as { locks?: LockManager }).locks
  if (locks !== undefined) return await locks.request(name, work)
  const key = `lastseen.lock.${name}`
  const tabId = String(Math.random())
  const readLock = (): { owner: string; until: number } | null => {
    const text = localStorage.getItem(key)
    return text === null ? null : (JSON.parse(text) as { owner: string; until: number })
  }
  for (;;) {
    const lock = readLock()
    if (lock === null || lock.until < Date.now()) {
      localStorage.setItem(key, JSON.stringify({ owner: tabId, until: Date.now() + leaseMs }))
      await sleep(pollMs)
      if (readLock()?.owner === tabId) break
    }
    await sleep(pollMs)
  }
  try {
    return await work()
  } finally {
    localStorage.removeItem(key)
  }
}
