import { describe, expect, expectTypeOf, it } from 'vitest'
import { type BulkAssetRow, type BulkSource, Lastseen, type LastseenOptions } from '../src/index.ts'
import { rejection } from './support/clients.ts'

const valid = { baseUrl: 'https://lastseen.example.com', accessToken: 'token' }
const create = (options: object) => () => new Lastseen(options as LastseenOptions)

describe('Options', () => {
  it.each<[string, object, string]>([
    ['no base URL', { accessToken: 'x' }, 'baseUrl must be a string such as https://lastseen.example.com'],
    ['a base URL without a scheme', { ...valid, baseUrl: 'host' }, 'baseUrl is not a URL: host'],
    ['another scheme', { ...valid, baseUrl: 'ftp://host' }, 'baseUrl must begin with https:// or http://'],
    ['a query', { ...valid, baseUrl: 'https://host?x=1' }, 'baseUrl must have no query and no fragment'],
    [
      'the path of the API',
      { ...valid, baseUrl: 'https://host/api/v1/' },
      'baseUrl must not end with /api/v1, which the client adds',
    ],
    ['a wrong natural URL', { ...valid, naturalUrl: '' }, 'naturalUrl is not a URL: '],
    ['no credential', { baseUrl: valid.baseUrl }, 'clientId or accessToken is missing'],
    ['half a credential', { baseUrl: valid.baseUrl, clientId: 'x' }, 'clientSecret or accessToken is missing'],
    ['two credentials', { ...valid, clientId: 'x' }, 'pass a credential or an accessToken, not both'],
    ['a wrong token', { ...valid, accessToken: 5 }, 'accessToken must be a token or a function that returns one'],
    ['no attempts', { ...valid, attempts: 0 }, 'attempts must be a whole number of at least 1'],
    ['a timeout in words', { ...valid, timeoutMs: '30s' }, 'timeoutMs must be a whole number of at least 1'],
    ['a hook that is no function', { ...valid, onRequest: true }, 'onRequest must be a function'],
  ])('with %s are rejected, and the message says why', (_case, options, message) => {
    expect(create(options)).toThrow(new TypeError(`Lastseen: ${message}`))
  })

  it('with an unknown name are rejected, and the message lists the known ones', () => {
    expect(create({ ...valid, timeout: 5 })).toThrow(
      /^Lastseen: there is no option timeout; the options are accessToken, /,
    )
  })

  it('that are valid are accepted', () => {
    expect(create({ ...valid, naturalUrl: 'http://host/x', attempts: 1, timeoutMs: 5 })).not.toThrow()
  })
})

describe('The method', () => {
  const requests: unknown[] = []
  const client = new Lastseen({
    ...valid,
    fetch: (...request) => Promise.reject(new Error(String(requests.push(request)))),
  })
  const rows = [{ external_key: 'A', name: 'a' }]
  const named = (name: string): TypeError =>
    expect.objectContaining({
      ...{
        name: 'TypeError',
        message: expect.stringMatching(`^Lastseen: there is no option ${name}; the options are `),
      },
    }) as TypeError

  it.each<[string, string, () => Promise<unknown>]>([
    // @ts-expect-error -- `dryRun` is meant. Without the check, this import would write.
    ['importAssets', 'dry_run', () => client.bulk.importAssets(rows, { dry_run: true })],
    // @ts-expect-error -- `onError` is meant.
    ['importLocations', 'on_error', () => client.bulk.importLocations(rows, { on_error: 'skip' })],
    // @ts-expect-error -- `from` is meant.
    ['exportHistory', 'since', () => client.bulk.exportHistory({ since: '2026-05-04T08:00:00Z' }).next()],
    // @ts-expect-error -- `signal` is the only option.
    ['exportAssets', 'from', () => client.bulk.exportAssets({ from: '2026-05-04T08:00:00Z' }).next()],
    // @ts-expect-error -- `to` is meant.
    ['exportCsv', 'until', () => client.bulk.exportCsv('moves', { until: '2026-05-04T08:00:00Z' }).next()],
    // @ts-expect-error -- `lastEventId` is meant.
    ['live', 'last_event_id', () => client.live({ last_event_id: '1' }).next()],
  ])('%s rejects the unknown option %s before it sends a request', async (_method, name, call) => {
    expect(await rejection(call())).toEqual(named(name))
    expect(requests).toEqual([])
  })

  it.each([
    ['the name of a file', 'assets.csv'],
    ['the bytes of a file', new TextEncoder().encode('external_key\nA\n')],
  ])('importAssets takes objects as rows, and not %s', async (_case, source) => {
    const error = new TypeError('Lastseen: rows must be objects; pass a file as { format, content }')
    expect(await rejection(client.bulk.importAssets(source as unknown as BulkSource<never>))).toEqual(error)
    expect(requests).toEqual([])
  })

  it('start takes rows of its kind, and request no imports, whose bodies are not JSON', () => {
    expectTypeOf(client.bulk.start<'assets'>)
      .parameter(1)
      .toEqualTypeOf<BulkSource<BulkAssetRow>>()
    expectTypeOf<'bulk.jobs.get'>().toExtend<Parameters<typeof client.primary.request>[0]>()
    expectTypeOf<'bulk.assets.import'>().not.toExtend<Parameters<typeof client.primary.request>[0]>()
  })
})
