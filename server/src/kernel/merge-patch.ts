import type { Json } from './json.ts'

type JsonObject = { [key: string]: Json }

/** Applies a JSON merge patch (RFC 7396). The inputs are not modified; the result may share parts with them. */
export function mergePatch(target: Json, patch: Json): Json {
  if (!isObject(patch)) return patch
  // Spread copies an own `__proto__` as an own property.
  const result: JsonObject = isObject(target) ? { ...target } : {}
  for (const key of Object.keys(patch)) {
    const change = patch[key] as Json
    if (change === null) {
      delete result[key]
      continue
    }
    // Merges only into an own member, never into an inherited one.
    const merged = isObject(change)
      ? mergePatch(Object.hasOwn(result, key) ? (result[key] as Json) : null, change)
      : change
    if (key === '__proto__') {
      // Plain assignment would replace the prototype.
      Object.defineProperty(result, key, { value: merged, writable: true, enumerable: true, configurable: true })
    } else {
      result[key] = merged
    }
  }
  return result
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
