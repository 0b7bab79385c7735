import { expect } from 'vitest'
import type { TestApp } from './app.ts'
import type { Reply } from './client.ts'

/** An import, with the requests that the web app sends. */
export class ImportRun {
  readonly app: TestApp
  readonly token: string
  id = 0

  constructor(app: TestApp, token: string) {
    this.app = app
    this.token = token
  }

  async open(kind: string): Promise<this> {
    const reply = await this.app.anonymous('POST', '/api/v1/imports', { token: this.token, json: { kind } })
    expect(reply.status, reply.text).toBe(201)
    this.id = reply.json.data.id
    return this
  }

  post(path: string, json?: object, app = this.app): Promise<Reply> {
    const options = json === undefined ? { token: this.token } : { token: this.token, json }
    return app.anonymous('POST', `/api/v1/imports/${this.id}/${path}`, options)
  }

  /** Line numbers start at 2, as in a file with a header line. */
  async rows(rows: readonly object[], firstLine = 2): Promise<this> {
    for (let start = 0; start < rows.length; start += 2000) {
      const some = rows.slice(start, start + 2000).map((row, at) => ({ line: firstLine + start + at, ...row }))
      const reply = await this.post('rows', { rows: some })
      expect(reply.status, reply.text).toBe(204)
    }
    return this
  }

  async get(app = this.app): Promise<ImportJson> {
    const reply = await app.anonymous('GET', `/api/v1/imports/${this.id}`, { token: this.token })
    expect(reply.status, reply.text).toBe(200)
    return reply.json.data
  }

  /** Waits until the import is neither waiting nor running. */
  async waitUntilIdle(timeout = 60_000): Promise<ImportJson> {
    await expect
      .poll(async () => ['waiting', 'checking', 'running'].includes((await this.get()).state), {
        timeout,
        interval: 20,
      })
      .toBe(false)
    return this.get()
  }

  async check(): Promise<ImportJson> {
    const reply = await this.post('check')
    expect(reply.status, reply.text).toBe(202)
    return this.waitUntilIdle()
  }

  async run(skipErrors = false): Promise<ImportJson> {
    const reply = await this.post('run', { skip_errors: skipErrors })
    expect(reply.status, reply.text).toBe(202)
    return this.waitUntilIdle()
  }
}

export interface ImportJson {
  id: number
  kind: string
  state: string
  rows: number
  creates: number
  updates: number
  unchanged: number
  errors_total: number
  errors: { line: number; field: string; message: string }[]
  done_rows: number
}

export const counts = ({ creates, updates, unchanged, errors_total: errors }: ImportJson) => ({
  creates,
  updates,
  unchanged,
  errors,
})

/** The line and field of each error. */
export const errorPositions = ({ errors }: ImportJson): [number, string][] =>
  errors.map(({ line, field }) => [line, field])
