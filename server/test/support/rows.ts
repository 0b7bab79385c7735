import { type AnyRoute, variablesOf } from '../../src/http/route.ts'
import { naturalRoutes, primaryRoutes, webRoutes } from './description.ts'

const isNatural = new Set(naturalRoutes)

/** Every operation of every base that ends; the live stream, which does not, has tests of its own. */
export const allRoutes: readonly AnyRoute[] = [...primaryRoutes, ...webRoutes, ...naturalRoutes].filter(
  (route) => route.id !== 'live',
)

/** The address of a row, with its variables by name. */
export const addressOf = (route: AnyRoute): string => `${isNatural.has(route) ? '/natural' : ''}/api/v1${route.path}`

/** The address with its variables filled in, in the order the path names them; the last value serves the rest. */
export function fillIn(address: string, ...values: readonly (number | string)[]): string {
  let at = 0
  return address.replace(/\{\w+\}/g, () => String(values[Math.min(at++, values.length - 1)] ?? 1))
}

export const pathOf = (route: AnyRoute, ...values: readonly (number | string)[]): string =>
  fillIn(addressOf(route), ...values)

/** The address with each variable filled in by its name. */
export const pathWith = (route: AnyRoute, fill: (name: string) => number | string): string =>
  pathOf(route, ...variablesOf(route).map(fill))
