import { expect, it } from 'vitest'
import { localUrl } from '../../src/app/local-url.ts'

it.each([
  ['127.0.0.1', 'http://127.0.0.1:8080'],
  ['track.example.com', 'http://track.example.com:8080'],
  ['0.0.0.0', 'http://localhost:8080'],
  ['::', 'http://localhost:8080'],
  ['::1', 'http://[::1]:8080'],
])('A server that listens on %s is reachable at %s', (host, address) => {
  expect(localUrl({ host, tlsCert: null }, 'http', 8080)).toBe(address)
  expect(localUrl({ host, tlsCert: 'cert.pem' }, 'http', 8080)).toBe(address.replace('http:', 'https:'))
  expect(new URL(address).href).toBe(`${address}/`)
})
