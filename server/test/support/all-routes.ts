import { type AnyRoute, variablesOf } from '../../src/http/route.ts'
import { naturalRoutes, primaryRoutes, webRoutes } from './openapi.ts'

const isNatural = new Set(naturalRoutes)

/** Every operation of every base except the live stream, whose response does not end. */
export const allRoutes: readonly AnyRoute[] = [...primaryRoutes, ...webRoutes, ...naturalRoutes].filter(
  (route) => route.id !== 'live',
)

/** The media type with which the tests send a body to the route; undefined when it takes none. */
export const bodyTypeOf = (route: AnyRoute): string | undefined =>
  route.body?.mediaType ?? (route.upload === undefined ? undefined : 'application/json')

/** The path of a route with its parameters as `{name}`. */
export const pathTemplateOf = (route: AnyRoute): string =>
  `${isNatural.has(route) ? '/natural' : ''}/api/v1${route.path}`

/** Fills in the path parameters in the order of the path; the last value is used for the remaining ones. */
export function fillPath(address: string, ...values: readonly (number | string)[]): string {
  let at = 0
  return address.replace(/\{\w+\}/g, () => String(values[Math.min(at++, values.length - 1)] ?? 1))
}

export const routePath = (route: AnyRoute, ...values: readonly (number | string)[]): string =>
  fillPath(pathTemplateOf(route), ...values)

/** The path with each parameter filled in by its name. */
export const routePathWith = (route: AnyRoute, fill: (name: string) => number | string): string =>
  routePath(route, ...variablesOf(route).map(fill))
