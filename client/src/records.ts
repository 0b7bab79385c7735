import { StaleError } from './errors.ts'
import { applyMergePatch, mergePatch } from './merge-patch.ts'

interface Versioned {
  id: number
  updated_at: string
}

export interface UpdateOptions {
  /** How often the change is tried on what others wrote meanwhile; 5 when absent. */
  attempts?: number
  signal?: AbortSignal | undefined
}

/** Reads and writes one record. */
interface Access<Item> {
  read(): Promise<Item>
  patch(patch: Record<string, unknown>): Promise<Item>
}

const isEmpty = (patch: object): boolean => Object.keys(patch).length === 0

/** A retried write that had been carried out the first time finds its own traces. */
function isDone(error: StaleError, wanted: object, found: object): boolean {
  const { updated_at: _then, ...expected } = wanted as { updated_at?: string }
  const { updated_at: _now, ...present } = found as { updated_at?: string }
  return error.attempts > 1 && isEmpty(mergePatch(expected, present))
}

/**
 * Changes a record without losing what others write: the smallest patch goes out together with the version it was made
 * from. When that is stale the record is read again and the change is made on what it has become.
 */
export async function updateRecord<Item extends Versioned>(
  access: Access<Item>,
  known: Item | null,
  change: (draft: Item) => void | Promise<void>,
  attempts = 5,
): Promise<Item> {
  let current = known ?? (await access.read())
  for (let tried = 1; ; tried++) {
    const draft = structuredClone(current)
    await change(draft)
    const patch = mergePatch(current, draft)
    if (isEmpty(patch)) return current
    try {
      return await access.patch({ ...patch, updated_at: current.updated_at })
    } catch (error) {
      if (!(error instanceof StaleError) || tried >= attempts) throw error
      const wanted = applyMergePatch(current, patch) as object
      current = await access.read()
      if (isDone(error, wanted, current)) return current
    }
  }
}
