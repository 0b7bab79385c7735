import { describeApi } from '../../http/openapi/document.ts'
import type { AnyRoute } from '../../http/route.ts'
import { sessionComponentsOf } from './surface.ts'

const about =
  'What the web app uses beyond the public API. It serves that app alone, changes with it, and is not published.'

/** For the types of the web app; never served. */
export function describeSessionApi(routes: readonly AnyRoute[]) {
  return describeApi({ serverUrl: '/', description: about, routes, components: sessionComponentsOf })
}
