import { type FieldProblem, throwIfAny } from '../../kernel/errors.ts'
import { type ParseResult, invalid, parseId, parseKey } from './query.ts'
import type { AnyRoute } from '../route.ts'

/** Parses the path's variables as ids or natural keys, as the route declares them. */
export function parseParams(
  route: AnyRoute,
  variables: readonly string[],
  segments: readonly string[],
): Record<string, number | string> {
  const params: Record<string, number | string> = {}
  const problems: FieldProblem[] = []
  variables.forEach((name, index) => {
    const result = parseParam(route, name, segments[index] ?? '')
    if ('value' in result) params[name] = result.value
    else problems.push({ field: name, ...result.problem })
  })
  throwIfAny(problems)
  return params
}

function parseParam(route: AnyRoute, name: string, segment: string): ParseResult<number | string> {
  const text = decodeSegment(segment)
  if (!route.keys?.includes(name)) return parseId(text ?? segment, name)
  return text === null ? invalid(`${name} is not percent-encoded UTF-8`) : parseKey(text, name)
}

function decodeSegment(segment: string): string | null {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}
