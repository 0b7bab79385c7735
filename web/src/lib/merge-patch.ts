type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The merge patch (RFC 7396) that turns one object into another. */
export function mergePatch(from: Json, to: Json): Json {
  const patch: Json = {}
  for (const name of Object.keys(from)) if (!(name in to)) patch[name] = null
  for (const [name, value] of Object.entries(to)) {
    const old = from[name]
    if (isObject(old) && isObject(value)) {
      const inner = mergePatch(old, value)
      if (Object.keys(inner).length > 0) patch[name] = inner
    } else if (JSON.stringify(old) !== JSON.stringify(value)) patch[name] = value
  }
  return patch
}
