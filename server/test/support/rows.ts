import type { AnyRoute } from '../../src/http/route.ts'
import { primaryRoutes, webRoutes } from './description.ts'

/** Every operation under /api/v1 that ends; the live stream, which does not, has tests of its own. */
export const allRoutes: readonly AnyRoute[] = [...primaryRoutes, ...webRoutes].filter((route) => route.id !== 'live')

/** A row's address with its ids filled in, in the order the path names them. */
export function pathOf(route: AnyRoute, ...ids: readonly (number | string)[]): string {
  let at = 0
  return `/api/v1${route.path.replace(/\{\w+\}/g, () => String(ids[Math.min(at++, ids.length - 1)] ?? 1))}`
}
