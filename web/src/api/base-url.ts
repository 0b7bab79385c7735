/**
 * Where the server takes requests. The public API by ids lies where the server says, because an installation may put
 * the API of v1.0.0 at the root; what serves the app alone is always at the same location.
 */
const told = document.querySelector('meta[name=api-base]')?.getAttribute('content') ?? ''
const publicBase = told.startsWith('/') ? told : '/api/v1'

const isPublic = /^\/(assets|locations|reports\/asset-locations)(\/|$)/

export const apiUrl = (path: string): string => `${isPublic.test(path) ? publicBase : '/api/v1'}${path}`
