type Members = Record<string, unknown>

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The names of members come from people: `constructor` is one like any other. */
const memberOf = (object: Members, key: string): unknown => (Object.hasOwn(object, key) ? object[key] : undefined)

/** In a merge patch null means "take it away", so a member that is to be null is a member that is not there. */
function withoutNulls(value: unknown): unknown {
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([, one]) => one !== null && one !== undefined)
  return Object.fromEntries(kept.map(([key, one]) => [key, withoutNulls(one)]))
}

function isSame(left: unknown, right: unknown): boolean {
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((one, at) => isSame(one, right[at]))
  if (!isObject(left) || !isObject(right)) return Object.is(left, right)
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isSame(left[key], right[key]))
  )
}

/**
 * The smallest merge patch (RFC 7396) that makes `after` out of `before`. Lists are replaced whole. What is null or
 * absent in `after` is taken away.
 */
export function mergePatch(before: object, after: object): Members {
  const [from, to] = [before as Members, after as Members]
  const gone = Object.keys(from).filter((key) => (from[key] ?? null) !== null && (memberOf(to, key) ?? null) === null)
  const changed = Object.entries(to).flatMap(([key, value]) => {
    if (value === null || value === undefined) return []
    const former = memberOf(from, key)
    if (!isObject(former) || !isObject(value)) return isSame(former, value) ? [] : [[key, withoutNulls(value)] as const]
    const inner = mergePatch(former, value)
    return Object.keys(inner).length === 0 ? [] : [[key, inner] as const]
  })
  return Object.fromEntries([...gone.map((key) => [key, null] as const), ...changed])
}

/** What a merge patch makes of a value, as the server would. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const members = new Map(Object.entries(isObject(target) ? target : {}))
  for (const [key, value] of Object.entries(patch))
    if (value === null) members.delete(key)
    else members.set(key, applyMergePatch(members.get(key), value))
  return Object.fromEntries(members)
}
