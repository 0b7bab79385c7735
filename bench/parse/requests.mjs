import { URLSearchParams } from 'node:url'
import { operations } from '../operations.mjs'

/** Takes a request of the service to the same question as Parse Server is asked it. */
const translate = {
  'point-read': ({ path }) => ({ method: 'GET', path: `/${path.slice('/assets/'.length)}` }),
  list: () => ({ method: 'GET', path: '?limit=50&count=1&order=external_key' }),
  filter: ({ path }) => list({ is_active: true, external_key: { $in: queryOf(path).getAll('external_key') } }, 'name'),
  search: ({ path }) => list({ name: { $regex: queryOf(path).get('q'), $options: 'i' } }, 'external_key'),
  create: ({ body }) => ({ method: 'POST', path: '', body: { ...body, is_active: true, valid_from: now() } }),
  patch: ({ path, body: { description, metadata } }) => ({
    method: 'PUT',
    path: `/${path.slice('/assets/'.length)}`,
    body: { description, 'metadata.round': metadata.round },
  }),
}

/** What is measured side by side. */
export const compared = Object.keys(translate)

const queryOf = (path) => new URLSearchParams(path.slice(path.indexOf('?') + 1))
const list = (where, order) => ({
  method: 'GET',
  path: `?where=${encodeURIComponent(JSON.stringify(where))}&limit=50&count=1&order=${order}`,
})
const now = () => ({ __type: 'Date', iso: new Date().toISOString() })

/** The ids of the sample are those of Parse Server's objects. */
export const parseRequests = Object.fromEntries(
  compared.map((name) => [name, { ask: (sample, random) => translate[name](operations[name].ask(sample, random)) }]),
)

/** The bytes of a request; `login` is the headers of one signed-in user. */
export function toParse({ method, path, body }, login) {
  const fixed = 'Host: 127.0.0.1\r\nUser-Agent: lastseen-bench\r\n'
  const head = `${method} /parse/classes/Asset${path} HTTP/1.1\r\n${fixed}${login}`
  if (body === undefined) return `${head}\r\n`
  const text = JSON.stringify(body)
  return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}
