import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Router } from '../../src/http/router.ts'

function routerOf(...paths: string[]): Router<string> {
  const router = new Router<string>()
  for (const path of paths) router.add('GET', path, path)
  return router
}

const found = (router: Router<string>, path: string): [string | undefined, readonly string[]] | null => {
  const match = router.find(path)
  return match === null ? null : [match.methods.get('GET'), match.segments]
}

describe('The router', () => {
  const router = routerOf('/', '/assets', '/assets/{id}', '/assets/{id}/tags/{tag}', '/assets/current', '/a/{x}/c')

  it.each([
    ['/', '/', []],
    ['/assets', '/assets', []],
    ['/assets/5', '/assets/{id}', ['5']],
    ['/assets/%35', '/assets/{id}', ['%35']],
    ['/assets/5/tags/7', '/assets/{id}/tags/{tag}', ['5', '7']],
    ['/a/b/c', '/a/{x}/c', ['b']],
  ])('matches %s as %s with its parameters undecoded', (path, expected, segments) => {
    expect(found(router, path)).toEqual([expected, segments])
  })

  it('prefers a static segment to a parameter', () => {
    expect(found(router, '/assets/current')).toEqual(['/assets/current', []])
  })

  it.each([
    '',
    '//',
    '/assets/',
    '/assets//tags/7',
    '/assets/5/',
    '/assets/5/tags',
    '/assets/5/tags/7/more',
    '/Assets',
    '/a/b',
    '/a//c',
    '/unknown',
    'assets',
    '*',
    '/__proto__',
    '/constructor',
    '/assets/5/constructor',
  ])('matches nothing at %s', (path) => {
    expect(router.find(path)).toBeNull()
  })

  it('keeps the methods of one path together', () => {
    const both = new Router<string>()
    both.add('GET', '/x/{id}', 'read')
    both.add('DELETE', '/x/{other}', 'delete')
    expect([...both.find('/x/1')!.methods]).toEqual([
      ['GET', 'read'],
      ['DELETE', 'delete'],
    ])
  })

  it('rejects a method and path that are registered already, whatever the parameter is called', () => {
    const twice = routerOf('/x/{id}')
    expect(() => twice.add('GET', '/x/{name}', 'again')).toThrow('GET /x/{name} is declared twice')
  })

  it('matches every registered path and no path with one more segment', () => {
    const part = fc.oneof(fc.stringMatching(/^[a-z]{1,3}$/), fc.constant('{v}'))
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
        const made = routerOf(`/${parts.join('/')}`)
        const address = `/${parts.map((one) => (one === '{v}' ? 'value' : one)).join('/')}`
        expect(made.find(address)?.segments).toEqual(parts.filter((one) => one === '{v}').map(() => 'value'))
        expect(made.find(`${address}/more`)).toBeNull()
        expect(made.find(`${address}/`)).toBeNull()
      }),
    )
  })
})
