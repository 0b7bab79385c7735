const leaseMs = 15_000
const pollMs = 60

const pause = (ms: number): Promise<void> => new Promise((resume) => setTimeout(resume, ms))

/**
 * Runs the work while no other tab runs work under the same name. Browsers offer locks only to secure origins; on plain
 * HTTP a note in the storage stands in for them, with an end in case its tab is closed.
 */
export async function withTabLock<T>(name: string, work: () => Promise<T>): Promise<T> {
  const locks = (navigator as { locks?: LockManager }).locks
  if (locks !== undefined) return await locks.request(name, work)
  const key = `lastseen.lock.${name}`
  const me = String(Math.random())
  const holder = (): { who: string; until: number } | null => {
    const text = localStorage.getItem(key)
    return text === null ? null : (JSON.parse(text) as { who: string; until: number })
  }
  for (;;) {
    const held = holder()
    if (held === null || held.until < Date.now()) {
      localStorage.setItem(key, JSON.stringify({ who: me, until: Date.now() + leaseMs }))
      await pause(pollMs)
      if (holder()?.who === me) break
    }
    await pause(pollMs)
  }
  try {
    return await work()
  } finally {
    localStorage.removeItem(key)
  }
}
