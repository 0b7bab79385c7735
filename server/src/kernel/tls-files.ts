import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import { createSecureContext } from 'node:tls'

export interface TlsKeyPair {
  cert: string
  key: string
}

interface TlsFilesOptions {
  certPath: string
  keyPath: string
  /** How often the files are checked for changes. */
  intervalMs?: number
  onReload: () => void
  onFailure: (error: unknown) => void
}

const defaultIntervalMs = 5_000

/**
 * The server's certificate chain and private key, read from PEM files and again when one of the files changes, so that a
 * renewed certificate needs no restart. Polling also notices files that are replaced through symbolic links.
 */
export class TlsFiles {
  readonly #options: TlsFilesOptions
  readonly #listeners: ((pair: TlsKeyPair) => void)[] = []
  #current: TlsKeyPair

  /** Throws if the files cannot be read or do not belong together. */
  constructor(options: TlsFilesOptions) {
    this.#options = options
    this.#current = this.#read()
    const { intervalMs: interval = defaultIntervalMs } = options
    for (const path of this.#paths) watchFile(path, { interval, persistent: false }, this.#reload)
  }

  get current(): TlsKeyPair {
    return this.#current
  }

  /** Calls the listener with every later pair. */
  onChange(listener: (pair: TlsKeyPair) => void): void {
    this.#listeners.push(listener)
  }

  close(): void {
    for (const path of this.#paths) unwatchFile(path, this.#reload)
  }

  get #paths(): string[] {
    return [this.#options.certPath, this.#options.keyPath]
  }

  #read(): TlsKeyPair {
    const [cert, key] = this.#paths.map((path) => readFileSync(path, 'utf8')) as [string, string]
    createSecureContext({ cert, key })
    return { cert, key }
  }

  /** While only one of the two files has been replaced, they do not belong together, and the old pair stays in use. */
  readonly #reload = (): void => {
    try {
      const pair = this.#read()
      if (pair.cert === this.#current.cert && pair.key === this.#current.key) return
      this.#current = pair
      for (const listener of this.#listeners) listener(pair)
      this.#options.onReload()
    } catch (error) {
      this.#options.onFailure(error)
    }
  }
}
