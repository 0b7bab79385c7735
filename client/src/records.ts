import { StaleError } from './errors.ts'
import { applyMergePatch, mergePatch } from './merge-patch.ts'

interface Versioned {
  id: number
  updated_at: string
}

/** Options of `update`. */
export interface UpdateOptions {
  /** How often the change is attempted when other clients change the record meanwhile. Default: 5. */
  attempts?: number
  /** Aborts the call, also while it waits for a retry. */
  signal?: AbortSignal | undefined
}

/** Reads and patches one record. */
interface RecordAccess<Item> {
  read(): Promise<Item>
  patch(patch: Record<string, unknown>): Promise<Item>
}

const isEmpty = (patch: object): boolean => Object.keys(patch).length === 0

/**
 * Whether the version is stale because of this client's own write: the PATCH was retried, and its first attempt had been
 * executed although its response was an error.
 */
function isOwnWrite(error: StaleError, wanted: object, found: object): boolean {
  const { updated_at: _before, ...expected } = wanted as { updated_at?: string }
  const { updated_at: _after, ...actual } = found as { updated_at?: string }
  return error.attempts > 1 && isEmpty(mergePatch(expected, actual))
}

/**
 * Changes a record with optimistic concurrency: sends the smallest patch together with the `updated_at` it is based on.
 * When another client has changed the record meanwhile, it reads the record and applies the change again.
 */
export async function updateRecord<Item extends Versioned>(
  access: RecordAccess<Item>,
  known: Item | null,
  change: (draft: Item) => void | Promise<void>,
  attempts = 5,
): Promise<Item> {
  let current = known ?? (await access.read())
  for (let attempt = 1; ; attempt++) {
    const draft = structuredClone(current)
    await change(draft)
    const patch = mergePatch(current, draft)
    if (isEmpty(patch)) return current
    try {
      return await access.patch({ ...patch, updated_at: current.updated_at })
    } catch (error) {
      if (!(error instanceof StaleError) || attempt >= attempts) throw error
      const wanted = applyMergePatch(current, patch) as object
      current = await access.read()
      if (isOwnWrite(error, wanted, current)) return current
    }
  }
}
