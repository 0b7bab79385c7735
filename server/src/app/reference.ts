import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { RawReply, RawRoute, RawRequest } from '../http/route.ts'
import { accepts, guards } from './web-app.ts'

/**
 * The browser bundle of Scalar's API reference. The package for Fastify contains the finished bundle; the package
 * `@scalar/api-reference` would install its 270 dependencies.
 */
const folder = dirname(createRequire(import.meta.url).resolve('@scalar/fastify-api-reference'))
const { version } = JSON.parse(readFileSync(join(folder, '../package.json'), 'utf8')) as { version: string }

const encoders = {
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
  identity: (bytes: Buffer) => Promise.resolve(bytes),
}
type Encoding = keyof typeof encoders

/** The bundle by content encoding, read and compressed once, at the first request for that encoding. */
const bundles = new Map<Encoding, Promise<Buffer>>()

function bundle(encoding: Encoding): Promise<Buffer> {
  const cached = bundles.get(encoding)
  if (cached !== undefined) return cached
  const compressed = readFile(join(folder, 'js/standalone.js')).then(encoders[encoding])
  bundles.set(encoding, compressed)
  compressed.catch(() => bundles.delete(encoding))
  return compressed
}

async function bundlePage(request: RawRequest): Promise<RawReply> {
  const encoding = (['br', 'gzip'] as const).find((one) => accepts(request, one)) ?? 'identity'
  return {
    status: 200,
    type: 'text/javascript; charset=utf-8',
    text: await bundle(encoding),
    headers: {
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
      ...(encoding === 'identity' ? {} : { 'Content-Encoding': encoding }),
    },
  }
}

/** All features that send requests to other hosts are disabled; the Content-Security-Policy forbids them as well. */
const configuration = {
  url: 'openapi.json',
  proxyUrl: '',
  telemetry: false,
  withDefaultFonts: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  authentication: { preferredSecurityScheme: 'BearerAuth' },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
}

const start = `Scalar.createApiReference('#reference', ${JSON.stringify(configuration)})\n`

/**
 * Scripts are loaded only from this server, and requests go only to this server. Scalar writes style elements and attributes
 * while it renders and has no option for a nonce, so inline styles are allowed; without external images or fonts, a style
 * cannot send data to another host.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const html = (title: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
</head>
<body>
<noscript>This page needs JavaScript. The OpenAPI document is at <a href="openapi.json">openapi.json</a>.</noscript>
<div id="reference"></div>
<script src="docs/scalar-${version}.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`

/** The interactive API reference of one surface. Its URLs are relative, so it works under any base path. */
export function referenceRoutes(prefix: string, title: string): RawRoute[] {
  const page = html(title)
  const noCache = { 'Cache-Control': 'no-cache' }
  return [
    {
      path: `${prefix}/api/docs`,
      render: async () => ({
        status: 200,
        type: 'text/html; charset=utf-8',
        text: page,
        headers: { ...guards, ...noCache, 'Content-Security-Policy': policy },
      }),
    },
    { path: `${prefix}/api/docs/scalar-${version}.js`, operation: 'reference.file', render: bundlePage },
    {
      path: `${prefix}/api/docs/start.js`,
      operation: 'reference.file',
      render: async () => ({ status: 200, type: 'text/javascript; charset=utf-8', text: start, headers: noCache }),
    },
  ]
}
