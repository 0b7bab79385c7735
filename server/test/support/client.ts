import { Agent, request } from 'undici'
import { mintCredentials } from '../../src/auth/commands.ts'
import type { TestApp } from './app.ts'
import { assertDescribedResponse } from './openapi.ts'

const agent = new Agent({ connections: 64, pipelining: 1, keepAliveTimeout: 1000 })

export interface Reply {
  status: number
  headers: Record<string, string | undefined>
  text: string
  // Tests read properties of responses without types; the schema check in `send` validates them.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  json: any
}

export interface SendOptions {
  token?: string
  headers?: Record<string, string>
  /** Sent as JSON with the content type that fits the method. */
  json?: unknown
  /** Sent unchanged. */
  raw?: string | Buffer
  query?: string | Record<string, string | number | boolean | readonly (string | number)[]>
}

function queryText(query: SendOptions['query']): string {
  if (query === undefined) return ''
  if (typeof query === 'string') return `?${query}`
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) for (const one of [value].flat()) params.append(name, String(one))
  return `?${params}`
}

/** Sends one HTTP request and checks the response against the OpenAPI document. */
export async function send(base: string, method: string, path: string, options: SendOptions = {}): Promise<Reply> {
  const headers: Record<string, string> = { 'user-agent': 'lastseen-tests', ...options.headers }
  if (options.token !== undefined) headers['authorization'] = `Bearer ${options.token}`
  if (options.json !== undefined && headers['content-type'] === undefined)
    headers['content-type'] = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const body = options.json === undefined ? options.raw : JSON.stringify(options.json)
  const response = await request(base + path + queryText(options.query), {
    method: method as 'GET',
    headers,
    dispatcher: agent,
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.body.text()
  const type = String(response.headers['content-type'] ?? '')
  const reply: Reply = {
    status: response.statusCode,
    headers: response.headers as Reply['headers'],
    text,
    json: type.startsWith('application/json') && text !== '' ? JSON.parse(text) : undefined,
  }
  assertDescribedResponse(method, path, reply)
  return reply
}

/** The number of requests before the client switches to a new credential; a bucket holds 120 tokens. */
const perCredential = 110

export interface Pair {
  clientId: string
  clientSecret: string
}

export class Client {
  readonly #app: TestApp
  readonly #orgId: number
  readonly #scopes: readonly string[]
  #token: Promise<string> | undefined
  #used = 0

  constructor(app: TestApp, orgId: number, scopes: readonly string[]) {
    this.#app = app
    this.#orgId = orgId
    this.#scopes = scopes
  }

  /** Creates a credential as the operator does. */
  async mint(): Promise<Pair> {
    const draft = { name: 'test', scopes: this.#scopes, expiresAt: null, createdBy: null }
    const [minted] = await mintCredentials(this.#app.context, this.#orgId, draft, 1)
    return { clientId: minted!.credential.clientId, clientSecret: minted!.clientSecret }
  }

  /** Returns a token from the token endpoint, used for at most `perCredential` requests of this client. */
  token(): Promise<string> {
    if (this.#token === undefined || ++this.#used > perCredential) {
      this.#used = 1
      this.#token = this.mint().then((pair) => this.exchange(pair))
    }
    return this.#token
  }

  async exchange({ clientId, clientSecret }: Pair): Promise<string> {
    const json = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
    const reply = await send(this.#app.url, 'POST', '/api/v1/oauth/token', { json })
    if (reply.status !== 200) throw new Error(`token exchange answered ${reply.status}: ${reply.text}`)
    return reply.json.access_token
  }

  async send(method: string, path: string, options: SendOptions = {}): Promise<Reply> {
    return send(this.#app.url, method, path, { ...options, token: await this.token() })
  }

  get = (path: string, query?: SendOptions['query']): Promise<Reply> =>
    this.send('GET', path, query === undefined ? {} : { query })
  post = (path: string, json: unknown): Promise<Reply> => this.send('POST', path, { json })
  put = (path: string, json: unknown): Promise<Reply> => this.send('PUT', path, { json })
  patch = (path: string, json: unknown): Promise<Reply> => this.send('PATCH', path, { json })
  delete = (path: string): Promise<Reply> => this.send('DELETE', path)
}
