import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../server/test/support/app.ts'
import { collectGarbage } from '../../server/test/support/garbage.ts'
import {
  BulkJobError,
  type BulkJob,
  ForbiddenError,
  type Lastseen,
  type LiveEvent,
  NetworkError,
} from '../src/index.ts'
import { newClient, rejection } from './support/clients.ts'
import { useProxy } from './support/proxy.ts'

const context = useApp()
const proxy = useProxy()
let org: TestOrg
let client: Lastseen

beforeAll(() => {
  proxy.target = context.app.url
})
beforeEach(async () => {
  org = await context.app.newOrg()
  ;({ client } = await newClient(org))
  proxy.reset()
})

const urlOf = (input: string | URL | Request): string => (input instanceof Request ? input.url : input.toString())

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

describe('bulk.importAssets', () => {
  it('takes rows from any iterable, reports progress and returns the job', async () => {
    async function* rows() {
      for (let at = 0; at < 1500; at++) yield { external_key: `A${at}`, name: `Asset ${at}` }
    }
    const seen: BulkJob[] = []
    const job = await client.bulk.importAssets(rows(), { onProgress: (state) => seen.push(state) })
    expect(job).toMatchObject({ state: 'done', rows: 1500, created: 1500, failed: 0 })
    expect(seen.at(-1)).toEqual(job)
    expect((await client.assets.list({ limit: 1 })).total_count).toBe(1500)
  })

  it.each([
    ['csv', 'external_key,name\nA,a\n'],
    ['ndjson', new TextEncoder().encode('{"external_key":"A","name":"a"}\n')],
    ['json', new Blob(['[{"external_key":"A","name":"a"}]'])],
  ] as const)('takes a file as %s', async (format, content) => {
    expect(await client.bulk.importAssets({ format, content })).toMatchObject({ created: 1 })
  })

  it('rejects rows of more than 64 MiB before it sends them, counted in bytes', async () => {
    let requests = 0
    const { client: counted } = await newClient(org, { onRequest: () => requests++ })
    const rows = Array.from({ length: 2 }, () => ({ external_key: 'A', name: 'ü'.repeat(17 * 2 ** 20) }))
    expect(await rejection(counted.bulk.start('assets', rows))).toBeInstanceOf(RangeError)
    expect(requests).toBe(0)
  })

  it('throws a BulkJobError when the job fails, and the errors are read by line', async () => {
    const error = (await rejection(
      client.bulk.importAssets([{ external_key: 'A', name: 'a' }, { external_key: 'B' }]),
    )) as BulkJobError
    expect(error).toBeInstanceOf(BulkJobError)
    expect(error.message).toBe('1 row has errors; nothing was changed')
    expect(await collect(client.bulk.errors(error.job.id))).toEqual([
      { line: 2, field: 'name', message: 'name is required' },
    ])
  })

  it('passes mode, dryRun and onError on', async () => {
    const rows = [{ external_key: 'A', name: 'a' }, { external_key: 'B' }]
    const dry = await client.bulk.importAssets(rows, { dryRun: true })
    expect(dry).toMatchObject({ dry_run: true, created: 1, failed: 1 })
    const skipped = await client.bulk.importAssets(rows, { mode: 'create', onError: 'skip' })
    expect(skipped).toMatchObject({ mode: 'create', created: 1, failed: 1 })
  })

  it('is sent again with the same Idempotency-Key when no response arrives, and is applied once', async () => {
    const { client: proxied } = await newClient(org, { baseUrl: proxy.url })
    let failures = 0
    proxy.intercept = ({ path }) =>
      path.startsWith('/api/v1/bulk/assets') && failures++ === 0 ? { status: 502, forward: true } : undefined
    const job = await proxied.bulk.importAssets([{ external_key: 'A', name: 'a' }], { mode: 'create' })
    expect(job).toMatchObject({ state: 'done', created: 1 })
    const keys = proxy.calls.filter(({ method }) => method === 'POST').map(({ headers }) => headers['idempotency-key'])
    expect(keys).toHaveLength(2)
    expect(new Set(keys).size).toBe(1)
  })

  it('returns the job of an earlier run with the same key', async () => {
    const rows = [{ external_key: 'A', name: 'a' }]
    const first = await client.bulk.importAssets(rows, { idempotencyKey: 'nightly-1' })
    expect(await client.bulk.start('assets', rows, { idempotencyKey: 'nightly-1' })).toEqual(first)
  })

  it('rejects an unknown format', async () => {
    const file = { format: 'xml', content: '' } as never
    expect(await rejection(client.bulk.importAssets(file))).toEqual(
      new TypeError('format must be one of csv, ndjson, json'),
    )
  })
})

describe('bulk exports', () => {
  beforeEach(async () => {
    await client.bulk.importLocations([
      { external_key: 'S', name: 's', parent_external_key: 'H' },
      { external_key: 'H', name: 'h' },
    ])
    const rows = Array.from({ length: 500 }, (_none, at) => ({
      external_key: `A${at}`,
      name: 'ü',
      description: 'x\ny',
    }))
    await client.bulk.importAssets(rows)
    await client.saveInventory({ location_identifier: 'H', asset_identifiers: ['A1', 'A2'] })
  })

  it('yield every row, typed', async () => {
    const assets = await collect(client.bulk.exportAssets())
    expect(new Set(assets.map(({ external_key: key }) => key)).size).toBe(500)
    const locations = await collect(client.bulk.exportLocations())
    expect(locations.map(({ external_key: key, parent_external_key: parent }) => [key, parent]).sort()).toEqual([
      ['H', null],
      ['S', 'H'],
    ])
    expect((await collect(client.bulk.exportMoves())).map(({ asset }) => asset.external_key).sort()).toEqual([
      'A1',
      'A2',
    ])
    expect(await collect(client.bulk.exportMoves({ to: '2020-01-01T00:00:00Z' }))).toEqual([])
    expect((await collect(client.bulk.exportHistory())).map((row) => row.location_external_key)).toEqual(['H', 'H'])
  })

  it('can be read in part', async () => {
    for await (const asset of client.bulk.exportAssets()) {
      expect(asset.id).toBeGreaterThan(0)
      break
    }
    expect((await collect(client.bulk.exportAssets())).length).toBe(500)
  })

  it('can be aborted, also after a garbage collection', async () => {
    const controller = new AbortController()
    const assets = client.bulk.exportAssets({ signal: controller.signal })
    await assets.next()
    await collectGarbage()
    controller.abort()
    expect(await rejection(collect(assets))).toBe(controller.signal.reason)
  })

  it('throw a NetworkError when they are interrupted', async () => {
    const broken: typeof fetch = async (url, init) => {
      const response = await fetch(url, init)
      if (!urlOf(url).includes('/bulk/')) return response
      let count = 0
      const body = new ReadableStream({
        pull: (controller) =>
          count++ === 0
            ? controller.enqueue(new TextEncoder().encode('{"id":1}\n'))
            : controller.error(new Error('reset')),
      })
      await response.body?.cancel()
      return new Response(body, { status: 200 })
    }
    const { client: unlucky } = await newClient(org, { fetch: broken })
    expect(await rejection(collect(unlucky.bulk.exportAssets()))).toBeInstanceOf(NetworkError)
  })

  it('may wait twice as long as other requests for their first byte, because the server runs only a few at a time', async () => {
    const slow: typeof fetch = async (url, init) => {
      if (!urlOf(url).endsWith('/oauth/token')) await new Promise((resolve) => setTimeout(resolve, 3000))
      init?.signal?.throwIfAborted()
      return fetch(url, init)
    }
    const { client: patient } = await newClient(org, { fetch: slow, timeoutMs: 2000, attempts: 1 })
    expect(await collect(patient.bulk.exportAssets())).toHaveLength(500)
    expect(await rejection(patient.me())).toBeInstanceOf(NetworkError)
  })

  it('throw a ForbiddenError without the scope', async () => {
    const { client: limited } = await newClient(org, { scopes: ['assets:read'] })
    expect(await rejection(collect(limited.bulk.exportMoves()))).toBeInstanceOf(ForbiddenError)
  })
})

describe('live', () => {
  beforeEach(async () => {
    await client.bulk.importLocations([
      { external_key: 'H', name: 'Hall' },
      { external_key: 'D', name: 'Dock' },
    ])
    await client.bulk.importAssets([{ external_key: 'A', name: 'a' }])
  })

  const save = (location_identifier: string) => client.saveInventory({ location_identifier, asset_identifiers: ['A'] })
  const until = async (stream: AsyncGenerator<LiveEvent>, count: number): Promise<string[]> => {
    const names: string[] = []
    for (;;) {
      const { value, done } = await stream.next()
      if (done === true) return names
      if (value.type === 'move') names.push(value.move.to_location.name)
      if (value.type === 'gap') names.push('gap')
      if (names.length === count) return names
    }
  }

  it('yields moves, and after an interruption those that happened meanwhile, each once', async () => {
    let streams: Response[] = []
    const interrupt: { now: (() => void) | null } = { now: null }
    const interruptible: typeof fetch = async (url, init) => {
      const response = await fetch(url, init)
      if (!urlOf(url).endsWith('/live')) return response
      streams = [...streams, response]
      const through = new TransformStream<Uint8Array, Uint8Array>()
      const stop = new AbortController()
      interrupt.now = () => stop.abort()
      void response.body!.pipeTo(through.writable, { signal: stop.signal }).catch(() => undefined)
      return new Response(through.readable, { status: 200 })
    }
    const { client: watching } = await newClient(org, { fetch: interruptible })
    const controller = new AbortController()
    const stream = watching.live({ signal: controller.signal })
    const first = until(stream, 1)
    await expect.poll(() => streams.length).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 200))
    await save('H')
    expect(await first).toEqual(['Hall'])
    interrupt.now!()
    await save('D')
    expect(await until(stream, 1)).toEqual(['Dock'])
    expect(streams.length).toBe(2)
    controller.abort()
    expect(await until(stream, 1)).toEqual([])
  })

  it('resumes after an event of an earlier run, and reports a gap when it cannot', async () => {
    const earlier = client.live()
    const pending = earlier.next()
    await new Promise((resolve) => setTimeout(resolve, 500))
    await save('H')
    const { value } = await pending
    await earlier.return()
    await save('D')
    const controller = new AbortController()
    const { signal } = controller
    expect(await until(client.live({ signal, lastEventId: (value as LiveEvent).id }), 1)).toEqual(['Dock'])
    expect(await until(client.live({ signal, lastEventId: 'unknown' }), 1)).toEqual(['gap'])
    controller.abort()
  })

  it('ends when it is aborted, also after a garbage collection', async () => {
    const controller = new AbortController()
    const stream = client.live({ signal: controller.signal })
    const first = until(stream, 1)
    await new Promise((resolve) => setTimeout(resolve, 500))
    await save('H')
    expect(await first).toEqual(['Hall'])
    const rest = until(stream, 1)
    await collectGarbage()
    controller.abort()
    expect(await rest).toEqual([])
  })

  it('throws when the credential lacks the scope', async () => {
    const { client: limited } = await newClient(org, { scopes: ['assets:read'] })
    expect(await rejection(limited.live().next())).toBeInstanceOf(ForbiddenError)
  })
})
