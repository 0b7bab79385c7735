import { STATUS_CODES } from 'node:http'
import { chip, dict, each, esc, examplesOf, fieldsOf, fold, json, list, nameOf, prose } from './reference-schema.ts'
import { type Dict, resolve, row, sampleOf, schemaOf, table, text, typeOf } from './reference-schema.ts'

export type Operation = {
  id: string
  method: string
  path: string
  tag: string
  title: string
  spec: Dict
  parameters: Dict[]
}

const methods = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace']
const places = { path: 'Path parameters', query: 'Query parameters', header: 'Request headers', cookie: 'Cookies' }

export const anchor = (id: string): string => esc(`#${encodeURIComponent(id)}`)
export const badge = (method: string): string =>
  `<span class="method ${esc(method)}">${esc(method.toUpperCase())}</span>`
/** Colours quotes and flags of a shell command that is already escaped, so no character of it changes. */
export const shell = (command: string): string =>
  esc(command).replace(/&#34;.*?&#34;(:?)|(?<=\s)-[A-Za-z](?=\s)/g, (token: string, colon?: string) => {
    return `<span class="${token.startsWith('-') || colon ? 'key' : 'str'}">${token}</span>`
  })
/** A listing can be focused, so that a keyboard can scroll it. */
const listing = (body: string): string => `<pre tabindex="0"><code>${body}</code></pre>`
export const block = (label: string, body: string): string =>
  `<figure class="shown"><figcaption class="caption">${label}</figcaption>${listing(body)}</figure>`
/** Keeps a value one word inside double quotes of a shell command. */
const quoted = (value: unknown): string => String(value).replace(/["\\$`]/g, '\\$&')

export function operationsOf(doc: Dict): Operation[] {
  return Object.entries(dict(doc.paths)).flatMap(([path, node]) => {
    const item = resolve(doc, node)
    return methods
      .filter((method) => item[method])
      .map((method): Operation => {
        const spec = dict(item[method])
        const id = text(spec.operationId) || `${method}${path}`
        const parameters = new Map<string, Dict>()
        for (const entry of [...list(item.parameters), ...list(spec.parameters)]) {
          const parameter = resolve(doc, entry)
          parameters.set(`${text(parameter.in)} ${text(parameter.name)}`, parameter)
        }
        const title = text(spec.summary) || text(spec.operationId) || `${method.toUpperCase()} ${path}`
        const tag = text(list(spec.tags)[0]) || 'Other'
        return { id, method, path, tag, title, spec, parameters: [...parameters.values()] }
      })
  })
}

/** The absolute base address, or a shell variable when the document has only a relative one. */
export function baseOf(doc: Dict): string {
  const server = dict(list(doc.servers)[0])
  const url = text(server.url).replace(/\{([^}]+)\}/g, (whole, name: string) => {
    return text(dict(dict(server.variables)[name]).default) || whole
  })
  return `${/^https?:/.test(url) ? '' : '$BASE_URL'}${url}`.replace(/\/+$/, '')
}

export const isOpen = (operation: Operation): boolean =>
  Array.isArray(operation.spec.security) && !operation.spec.security.length

function scopesOf(doc: Dict, operation: Operation): string {
  if (isOpen(operation)) return '<span class="scope free">no token</span>'
  const security = list(operation.spec.security ?? doc.security).flatMap((entry) =>
    Object.values(dict(entry)).flatMap(list),
  )
  const scopes = list(operation.spec['x-required-scopes'] ?? security)
  return scopes.length
    ? each(scopes, (scope) => `<span class="scope">${esc(scope)}</span> `)
    : '<span class="scope free">any token</span>'
}

export function curlOf(doc: Dict, operation: Operation): string {
  const valueOf = (parameter: Dict): unknown => {
    const named = dict(Object.values(dict(parameter.examples))[0]).value
    const schema = schemaOf(doc, parameter.schema)
    if (parameter.in !== 'path') return parameter.example ?? named ?? sampleOf(doc, parameter.schema, 'readOnly')
    return parameter.example ?? named ?? schema.example ?? text(parameter.name).replace(/\W+/g, '_').toUpperCase()
  }
  const required = (place: string) =>
    operation.parameters
      .filter((parameter) => parameter.in === place && parameter.required === true)
      .map((parameter): [string, unknown] => [text(parameter.name), valueOf(parameter)])
  let path = operation.path
  for (const [name, value] of required('path'))
    path = path.replace(`{${name}}`, () => encodeURIComponent(String(value)))
  const query = required('query').map((pair) => pair.map((word) => encodeURIComponent(String(word))).join('='))
  const base = baseOf(doc).replace(/["\\`]|\$(?!BASE_URL)/g, '\\$&')
  const address = `"${base}${quoted(path + (query.length ? `?${query.join('&')}` : ''))}"`
  const lines = [`curl ${address}`]
  if (operation.method !== 'get') lines.push(`-X ${operation.method.toUpperCase()}`)
  if (!isOpen(operation)) lines.push('-H "Authorization: Bearer $TOKEN"')
  for (const [name, value] of required('header')) lines.push(`-H "${quoted(`${name}: ${String(value)}`)}"`)
  const [type, media] = Object.entries(dict(resolve(doc, operation.spec.requestBody).content))[0] ?? []
  if (type === undefined) return lines.join(' \\\n  ')
  const body = examplesOf(doc, dict(media), 'readOnly')[0]?.value
  if (type === 'application/x-www-form-urlencoded') {
    for (const [name, value] of Object.entries(dict(body))) lines.push(`-d "${quoted(`${name}=${String(value)}`)}"`)
  } else {
    const data = typeof body === 'string' ? body : (JSON.stringify(body, null, 2) ?? '')
    lines.push(`-H "Content-Type: ${quoted(type)}"`, `-d '${data.replaceAll("'", String.raw`'\''`)}'`)
  }
  return lines.join(' \\\n  ')
}

export const responsesOf = (doc: Dict, operation: Operation): [status: string, response: Dict][] =>
  Object.entries(dict(operation.spec.responses)).map(([status, node]) => [status, resolve(doc, node)])
const statusName = (status: string): string =>
  status === 'default' ? 'Any other status' : [status, STATUS_CODES[status] ?? ''].join(' ').trim()
export const isError = (status: string): boolean => /^([45]|default)/.test(status)
export const pill = (status: string): string =>
  `<span class="status s${esc(status[0])}">${esc(statusName(status))}</span>`

/** The error types a response may carry: said by `x-error-types`, shown by its examples or fixed by its schema. */
export function errorTypesOf(doc: Dict, response: Dict): string[] {
  const typeIn = (value: unknown) => {
    const [outer, inner] = [dict(value), dict(dict(value).error)]
    return text([inner.type, inner.code, outer.type, outer.code, outer.error].find((word) => typeof word === 'string'))
  }
  const shown = Object.values(dict(response.content)).flatMap((media) => {
    const examples = examplesOf(doc, dict(media), 'writeOnly').filter((example) => example.given)
    if (examples.length) return examples.map((example) => typeIn(example.value))
    const top = dict(schemaOf(doc, dict(media).schema).properties)
    const inner = dict(schemaOf(doc, top.error).properties)
    const fixed = [inner.type, inner.code, top.type, top.code, top.error].map((node) => list(schemaOf(doc, node).enum))
    return text(fixed.find((values) => values.length === 1)?.[0])
  })
  return [...new Set([...[response['x-error-type'], response['x-error-types']].flat().map(text), ...shown])].filter(
    Boolean,
  )
}

function responseOf(doc: Dict, [status, response]: [string, Dict]): string {
  const headers = Object.entries(dict(response.headers)).map(([name, node]) => {
    const header = resolve(doc, node)
    return row(doc, name, header.schema, header)
  })
  const types = errorTypesOf(doc, response)
  const bodies = each(Object.entries(dict(response.content)), ([type, node]) => {
    const schema = dict(node).schema
    const kind = `<p class="fact">${chip(type)} ${esc(typeOf(doc, schema))}</p>`
    if (isError(status))
      return types.length ? '' : `<p class="fact"><a href="#section-errors">${esc(nameOf(schema) || 'Error')}</a></p>`
    return kind + fold('Response fields', fieldsOf(doc, schema))
  })
  const kinds = types.length
    ? `<p class="fact">Error type ${each(types, (type) => `<a href="#section-errors">${chip(type, 'error')}</a> `)}</p>`
    : ''
  return `<li>${pill(status)}<div>${prose(response.description)}${kinds}${bodies}${fold(
    'Response headers',
    table(headers.join(''), 'Response headers'),
  )}</div></li>`
}

function exampleAnswers(doc: Dict, operation: Operation): string {
  const answers = responsesOf(doc, operation).flatMap(([status, response]) => {
    const media = Object.entries(dict(response.content))
    return media.flatMap(([type, node]) =>
      examplesOf(doc, dict(node), 'writeOnly').map(({ label, value }) => {
        const hint = [media.length > 1 ? type : '', label].filter(Boolean).join(', ')
        return { status, hint, value }
      }),
    )
  })
  const success = answers.findIndex((answer) => !isError(answer.status))
  const first = Math.max(0, success)
  return each(answers.entries(), ([index, { status, hint, value }]) => {
    const title = `${pill(status)}${hint && ` <span>${esc(hint)}</span>`}`
    const start = `<details name="${esc(`answers-${operation.id}`)}"${index === first ? ' open' : ''}>`
    return `${start}<summary>${title}</summary>${listing(json(value))}</details>`
  })
}

function requestBody(doc: Dict, operation: Operation): string {
  const body = resolve(doc, operation.spec.requestBody)
  const need = body.required === true ? ' <span class="need">required</span>' : ''
  const parts = each(Object.entries(dict(body.content)), ([type, media]) => {
    const schema = dict(media).schema
    return `<p class="fact">${chip(type)} ${esc(typeOf(doc, schema))}</p>${fieldsOf(doc, schema)}`
  })
  return parts && `<h4>Request body${need}</h4>${prose(body.description)}${parts}`
}

/** One operation: its text on the left, its example request and answers on the right. */
export function renderOperation(doc: Dict, operation: Operation): string {
  const { id, method, path, title, spec, parameters } = operation
  const inputs = each(Object.entries(places), ([place, label]) => {
    const rows = each(
      parameters.filter((parameter) => parameter.in === place),
      (parameter) => {
        const media = dict(Object.values(dict(parameter.content))[0])
        return row(doc, text(parameter.name), parameter.schema ?? media.schema, parameter)
      },
    )
    return rows && `<h4>${label}</h4>${table(rows, label)}`
  })
  const answers = exampleAnswers(doc, operation)
  const old = spec.deprecated === true ? ' <span class="old">deprecated</span>' : ''
  return `<section class="op split" id="${esc(id)}">
<div><h3><a href="${anchor(id)}">${esc(title)}</a>${old}</h3>
<p class="route">${badge(method)}<code>${esc(path).replace(/\{[^}]*\}/g, '<b>$&</b>')}</code></p>
<p class="scopes"><span class="dim">Access</span> ${scopesOf(doc, operation)}</p>
${prose(spec.description)}${inputs}${requestBody(doc, operation)}
<h4>Responses</h4><ul class="answers">${each(responsesOf(doc, operation), (entry) => responseOf(doc, entry))}</ul></div>
<aside aria-label="${esc(`Examples: ${title}`)}">${block('Request', shell(curlOf(doc, operation)))}${
    answers && `<div class="shown"><p class="caption">Response</p>${answers}</div>`
  }</aside></section>`
}
