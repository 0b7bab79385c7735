import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface KeyPair {
  key: string
  cert: string
}

/** A certificate authority for tests, created with openssl. */
export class Authority {
  readonly folder = mkdtempSync(join(tmpdir(), 'lastseen-ca-'))
  readonly caFile = join(this.folder, 'ca.pem')
  #serial = 0

  constructor() {
    const key = join(this.folder, 'ca.key')
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    this.#openssl('req', '-x509', ...curve, '-subj', '/CN=Test CA', '-keyout', key, '-out', this.caFile)
  }

  /** A certificate for these names, such as `DNS:hooks.test` or `IP:127.0.0.1`. */
  issue(...names: string[]): KeyPair {
    const path = (kind: string): string => join(this.folder, `${this.#serial}.${kind}`)
    this.#serial++
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    this.#openssl('req', ...curve, '-subj', '/CN=endpoint', '-keyout', path('key'), '-out', path('csr'))
    writeFileSync(path('ext'), `subjectAltName=${names.join(',')}\n`)
    const ca = ['-CA', this.caFile, '-CAkey', join(this.folder, 'ca.key'), '-CAcreateserial', '-days', '2']
    this.#openssl('x509', '-req', '-in', path('csr'), ...ca, '-extfile', path('ext'), '-out', path('crt'))
    return { key: readFileSync(path('key'), 'utf8'), cert: readFileSync(path('crt'), 'utf8') }
  }

  /** The authority's own certificate, for clients that trust it. */
  get certificate(): string {
    return readFileSync(this.caFile, 'utf8')
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  #openssl(...args: string[]): void {
    execFileSync('openssl', args, { stdio: 'pipe' })
  }
}
