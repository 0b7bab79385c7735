/** Translates requests of the API into those of Parse Server's REST API. */
const prefix = '/parse/classes/Asset'

const list = (where, order) => `?where=${encodeURIComponent(JSON.stringify(where))}&limit=50&count=1&order=${order}`

function pathOf(path) {
  const { pathname, searchParams } = new URL(path, 'http://127.0.0.1')
  if (pathname !== '/assets') return pathname.slice('/assets'.length)
  const keys = searchParams.getAll('external_key')
  if (keys.length > 0) return list({ is_active: true, external_key: { $in: keys } }, 'name')
  const term = searchParams.get('q')
  return term === null ? list({}, 'external_key') : list({ name: { $regex: term, $options: 'i' } }, 'external_key')
}

/** The arguments of toHttp. */
export function parseRequest({ method, path, body }, headers) {
  if (body === undefined) return [{ method, path: pathOf(path) }, headers, prefix]
  if (method === 'PATCH') return [{ method: 'PUT', path: pathOf(path), body }, headers, prefix]
  const valid_from = { __type: 'Date', iso: new Date().toISOString() }
  return [{ method, path: '', body: { ...body, is_active: true, valid_from } }, headers, prefix]
}
