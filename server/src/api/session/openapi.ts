import { describeApi } from '../../http/openapi/document.ts'
import type { AnyRoute } from '../../http/route.ts'
import { sessionComponentsOf } from './surface.ts'

const about =
  'The endpoints that the web app uses in addition to the public API. They serve only the web app and change with it.'

/** The source of the web app's API types. The service does not publish it. */
export function describeSessionApi(routes: readonly AnyRoute[]) {
  return describeApi({ serverUrl: '/', description: about, routes, components: sessionComponentsOf })
}
