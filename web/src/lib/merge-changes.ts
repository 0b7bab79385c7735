type Fields = Record<string, unknown>

export interface FieldConflict {
  /** The names of the field and of the keys within it. */
  path: readonly string[]
  mine: unknown
  theirs: unknown
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The fields whose values differ. A PATCH with only these keeps what others changed in the other fields. */
export const changedFields = <T extends object>(before: T, after: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(after).filter(([name, value]) => !isEqual(value, (before as Fields)[name])),
  ) as Partial<T>

/**
 * Merges two versions that were made from the same base: each field has the value of the version that changed it, objects
 * key by key. Where both changed a field to different values, there is a conflict, and the field has the value of `keep`.
 */
export function mergeChanges<T extends object>(
  base: T,
  mine: T,
  theirs: T,
  keep: 'mine' | 'theirs',
): { merged: T; conflicts: FieldConflict[] } {
  const conflicts: FieldConflict[] = []
  const merge = (path: readonly string[], from: unknown, ours: unknown, others: unknown): unknown => {
    if (isEqual(ours, others) || isEqual(others, from)) return ours
    if (isEqual(ours, from)) return others
    if (isObject(ours) && isObject(others)) {
      const names = [...new Set([...Object.keys(others), ...Object.keys(ours)])]
      const value = (fields: unknown, name: string): unknown =>
        isObject(fields) && Object.hasOwn(fields, name) ? fields[name] : undefined
      const entries = names.map(
        (name) => [name, merge([...path, name], value(from, name), value(ours, name), value(others, name))] as const,
      )
      return Object.fromEntries(entries.filter(([, merged]) => merged !== undefined))
    }
    conflicts.push({ path, mine: ours, theirs: others })
    return keep === 'mine' ? ours : others
  }
  return { merged: merge([], base, mine, theirs) as T, conflicts }
}
