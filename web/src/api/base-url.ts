/**
 * The base path of the API. The server names that of the public API in the page, because an installation may
 * serve the v1.0.0 API at the root. The endpoints that only the web app uses are always under `/api/v1`.
 */
const configured = document.querySelector('meta[name=api-base]')?.getAttribute('content') ?? ''
const publicBase = configured.startsWith('/') ? configured : '/api/v1'

const isPublic = /^\/(assets|locations|reports\/asset-locations)(\/|$)/

/** The path on the server of a path of the API. */
export const apiPath = (path: string): string => `${isPublic.test(path) ? publicBase : '/api/v1'}${path}`
