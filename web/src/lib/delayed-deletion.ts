/**
 * A deletion can be undone for this long: the request is sent afterwards, or when the user leaves the page or signs out.
 * A browser that crashes meanwhile deletes nothing.
 */
export const undoSeconds = 30

interface PendingDeletion {
  ids: readonly number[]
  /** Returns the ids that were deleted. */
  send: () => Promise<readonly number[]>
  timer: ReturnType<typeof setTimeout>
}

const pending = new Set<PendingDeletion>()
const inFlight = new Set<PendingDeletion>()
/** Deleted ids stay hidden, because a cached response may still contain them. No id is used twice. */
const deleted = new Set<number>()
const listeners = new Set<() => void>()
let pendingIds: ReadonlySet<number> = new Set()

function notifyListeners(): void {
  pendingIds = new Set([...deleted, ...[...pending, ...inFlight].flatMap((one) => one.ids)])
  for (const listener of listeners) listener()
}

/** The ids of the records whose deletion waits or is done. */
export const getPendingIds = (): ReadonlySet<number> => pendingIds

export function onPendingChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function remove(deletion: PendingDeletion): boolean {
  clearTimeout(deletion.timer)
  return pending.delete(deletion)
}

/** The records stay hidden until the server has answered. */
async function flush(deletion: PendingDeletion): Promise<void> {
  if (!remove(deletion)) return
  inFlight.add(deletion)
  const done = await deletion.send().finally(() => inFlight.delete(deletion))
  for (const id of done) deleted.add(id)
  notifyListeners()
}

/** Sends a deletion after 30 seconds. Returns functions that undo it and that send it now. */
export function delayDeletion(ids: readonly number[], send: () => Promise<readonly number[]>) {
  const deletion: PendingDeletion = {
    ids,
    send,
    timer: setTimeout(() => void flush(deletion), undoSeconds * 1000),
  }
  pending.add(deletion)
  notifyListeners()
  return {
    undo: () => {
      if (remove(deletion)) notifyListeners()
    },
    sendNow: () => void flush(deletion),
  }
}

export async function flushDeletions(): Promise<void> {
  await Promise.all([...pending].map(flush))
}

window.addEventListener('pagehide', () => void flushDeletions())
