type JsonObject = Record<string, unknown>

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Only own properties count, because a member of metadata may be named `constructor`. */
const memberOf = (object: JsonObject, key: string): unknown => (Object.hasOwn(object, key) ? object[key] : undefined)

/** A merge patch cannot set a member to null, because null removes it: null and absent are equivalent. */
function withoutNulls(value: unknown): unknown {
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([, member]) => member !== null && member !== undefined)
  return Object.fromEntries(kept.map(([key, member]) => [key, withoutNulls(member)]))
}

function isEqual(left: unknown, right: unknown): boolean {
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item, index) => isEqual(item, right[index]))
  if (!isObject(left) || !isObject(right)) return Object.is(left, right)
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isEqual(left[key], right[key]))
  )
}

/**
 * Returns the smallest merge patch (RFC 7396) that turns `before` into `after`. Arrays are replaced as a whole. Members
 * that are null or absent in `after` are removed.
 */
export function mergePatch(before: object, after: object): JsonObject {
  const [source, target] = [before as JsonObject, after as JsonObject]
  const removed = Object.keys(source).filter(
    (key) => (source[key] ?? null) !== null && (memberOf(target, key) ?? null) === null,
  )
  const changed = Object.entries(target).flatMap(([key, value]) => {
    if (value === null || value === undefined) return []
    const previous = memberOf(source, key)
    if (!isObject(previous) || !isObject(value))
      return isEqual(previous, value) ? [] : [[key, withoutNulls(value)] as const]
    const nested = mergePatch(previous, value)
    return Object.keys(nested).length === 0 ? [] : [[key, nested] as const]
  })
  return Object.fromEntries([...removed.map((key) => [key, null] as const), ...changed])
}

/** Returns the result of applying a merge patch (RFC 7396) to a value. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const members = new Map(Object.entries(isObject(target) ? target : {}))
  for (const [key, value] of Object.entries(patch))
    if (value === null) members.delete(key)
    else members.set(key, applyMergePatch(members.get(key), value))
  return Object.fromEntries(members)
}
