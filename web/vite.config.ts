import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { type Plugin, defineConfig } from 'vite'

const compressible = /\.(js|css|svg|json|webmanifest)$/

/** Writes a Brotli and a gzip copy of each file, so that the server does not compress at run time. */
function precompress(): Plugin {
  let folder = ''
  return {
    name: 'precompress',
    apply: 'build',
    configResolved(config) {
      folder = config.build.outDir
    },
    closeBundle() {
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        const path = join(folder, name)
        if (!compressible.test(name) || statSync(path).size < 1024) continue
        const bytes = readFileSync(path)
        const params = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
        writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }))
        writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
      }
    },
  }
}

/** Writes the service worker with a version that changes with every file of the build. */
function serviceWorker(): Plugin {
  const sourceOf = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8')
  return {
    name: 'service-worker',
    apply: 'build',
    generateBundle(_options, bundle) {
      const names = Object.keys(bundle).sort().join()
      const version = createHash('sha256').update(names).update(sourceOf('index.html')).digest('hex').slice(0, 16)
      const source = sourceOf('src/service-worker.js').replace('__BUILD__', version)
      this.emitFile({ type: 'asset', fileName: 'sw.js', source })
    },
  }
}

const server = process.env['LASTSEEN_URL'] ?? 'http://localhost:8080'

export default defineConfig({
  plugins: [react(), serviceWorker(), precompress()],
  build: { assetsDir: 'static', target: 'es2022', modulePreload: { polyfill: false }, chunkSizeWarningLimit: 1000 },
  server: { proxy: { '/api': server, '/ingest': server } },
})
