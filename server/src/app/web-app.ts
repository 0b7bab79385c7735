import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { RawReply, RawRoute, RawRequest } from '../http/route.ts'

/** Every path of the web app. Each can be opened, reloaded and shared. */
const pagePaths = [
  '/',
  '/sign-in',
  '/sign-up',
  '/forgot-password',
  '/reset-password',
  '/join',
  '/confirm-email',
  '/assets',
  '/assets/{asset_id}',
  '/locations',
  '/locations/{location_id}',
  '/unseen',
  '/scan',
  '/readers',
  '/readers/inbox',
  '/readers/{reader_id}',
  '/import',
  '/labels',
  '/reports',
  '/settings/account',
  '/settings/api-keys',
  '/settings/webhooks',
  '/settings/members',
]

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
}

/** Scripts are loaded only from this server. So are styles, except elements with the nonce of the response. */
const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "worker-src 'self'",
    "font-src 'self'",
    "manifest-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ')

/** Security headers of every HTML page. */
export const guards = {
  'Referrer-Policy': 'no-referrer',
  'Permissions-Policy': 'camera=(self), microphone=(), geolocation=(), payment=(), usb=()',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
}

const noncePlaceholder = '__STYLE_NONCE__'
const basePlaceholder = '__API_BASE__'
const signupPlaceholder = '__SIGNUP__'

function indexPage(html: string, apiBase: string, signup: string, status: number): RawRoute['render'] {
  const page = html.replace(basePlaceholder, apiBase).replace(signupPlaceholder, signup)
  return async () => {
    const nonce = randomBytes(16).toString('base64url')
    return {
      status,
      type: 'text/html; charset=utf-8',
      text: page.replaceAll(noncePlaceholder, nonce),
      headers: { ...guards, 'Content-Security-Policy': policy(nonce), 'Cache-Control': 'no-cache' },
    }
  }
}

/** Paths of the API, of readers and of files: their clients are programs, which get the JSON error. */
const servicePath = /^\/(.*\/)?(api|ingest|static)(\/|\?|$)/

/** A browser that opens an unknown URL gets the app, which shows its own "not found" page. */
const isBrowserNavigation = ({ url = '', headers }: RawRequest['message']): boolean =>
  !servicePath.test(url) && /(^|,)\s*text\/html\s*(;|,|$)/i.test(headers.accept ?? '')

const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

/** True if Accept-Encoding lists the coding without `q=0`. */
export function accepts({ message }: RawRequest, coding: string): boolean {
  const acceptEncoding = message.headers['accept-encoding'] ?? ''
  const entry = acceptEncoding
    .split(',')
    .map((one) => one.trim().toLowerCase().split(';'))
    .find(([name]) => name === coding)
  return entry !== undefined && !/^q=0(\.0*)?$/.test(entry[1]?.trim() ?? '')
}

/** File names under static/ change with their content. The service worker must be replaced with the next build. */
function cacheControl(name: string): string {
  if (name.startsWith('static/')) return 'public, max-age=31536000, immutable'
  return name === 'sw.js' ? 'no-cache' : 'public, max-age=3600'
}

/** Serves one file in the encodings that the build produced. */
function filePage(folder: string, name: string): RawRoute['render'] {
  const read = (ending: string): Buffer | null =>
    existsSync(join(folder, name + ending)) ? readFileSync(join(folder, name + ending)) : null
  const plain = read('')!
  const compressed = encodings.map(([coding, ending]) => ({ coding, bytes: read(ending) }))
  const headers = {
    'Cache-Control': cacheControl(name),
    'Referrer-Policy': guards['Referrer-Policy'],
    Vary: 'Accept-Encoding',
  }
  const type = types[extname(name)] ?? 'application/octet-stream'
  return async (request): Promise<RawReply> => {
    const best = compressed.find(({ coding, bytes }) => bytes !== null && accepts(request, coding))
    if (best === undefined) return { status: 200, type, text: plain, headers }
    return { status: 200, type, text: best.bytes!, headers: { ...headers, 'Content-Encoding': best.coding } }
  }
}

/**
 * Serves the web app from memory, with the base path of the API and the sign-up mode filled in. Without a build, the root
 * redirects to the API reference.
 */
export function webAppRoutes(folder: string, apiBase: string, signup: string): RawRoute[] {
  if (!existsSync(join(folder, 'index.html'))) {
    const text = 'See /api/docs\n'
    const moved = { status: 302, type: 'text/plain; charset=utf-8', text, headers: { Location: '/api/docs' } }
    return [{ path: '/', render: async () => moved }]
  }
  const html = readFileSync(join(folder, 'index.html'), 'utf8')
  const index = indexPage(html, apiBase, signup, 200)
  const notFound = indexPage(html, apiBase, signup, 404)
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile() && one.name !== 'index.html' && !/^\.|\.(br|gz)$/.test(one.name))
    .map((one) =>
      join(one.parentPath, one.name)
        .slice(folder.length + 1)
        .replaceAll('\\', '/'),
    )
  return [
    ...pagePaths.map((path) => ({ path, operation: 'web.page', render: index })),
    ...names.map((name) => ({ path: `/${name}`, operation: 'web.file', render: filePage(folder, name) })),
    { path: '/*', operation: 'web.page', acceptsUnknownPath: isBrowserNavigation, render: notFound },
  ]
}
